package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stopgate/pkg/status"
)

func taskLabel(t *Task) string {
	return short(cmp.Or(t.Text, t.ID), labelLength) + " · " + result(t) + t.during()
}

// during says how long a task took, behind what became of it.
func (t *Task) during() string {
	switch took := span(t.Until.Sub(t.From)); t.State {
	case status.TaskRunning:
		return " for " + took
	case status.TaskUnknown:
		return ""
	default:
		return " after " + took
	}
}

// result is what became of a task, in a word or two.
func result(t *Task) string {
	switch {
	case t.State == status.TaskRunning:
		return "running"
	case t.State == status.TaskUnknown:
		return "end unknown"
	case t.State == status.TaskKilled:
		return "killed"
	case t.Exit != nil:
		return fmt.Sprintf("exit %d", *t.Exit)
	}
	return "finished"
}

func (w writer) taskTitle(l *Lane, t *Task) string {
	parts := []string{fmt.Sprintf("task %s (%s) of %s: %s", t.ID, cmp.Or(t.Kind, "task"), l.Name, result(t))}
	if t.Text != "" {
		parts = append(parts, t.Text)
	}
	if t.About != "" {
		parts = append(parts, t.About)
	}
	if t.State == status.TaskRunning {
		parts = append(parts, fmt.Sprintf("since %s, for %s", clock(t.From), span(w.t.Now.Sub(t.From))))
	} else {
		parts = append(parts, fmt.Sprintf("%s to %s, %s", clock(t.From), clock(t.Until), span(t.Until.Sub(t.From))))
	}
	parts = append(parts, w.told(t))
	if t.Saved {
		parts = append(parts, "saved: without the gate its result had been lost")
	}
	if t.Excused {
		parts = append(parts, "nothing waits for it")
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " — ")
}

// told says who heard of a task's end.
func (w writer) told(t *Task) string {
	if t.Unheard {
		return "nobody heard of its end"
	}
	var parts []string
	for _, n := range t.News {
		parts = append(parts, fmt.Sprintf("%s heard of it at %s from the %s", w.name(n.To), clock(n.At), n.By))
	}
	return strings.Join(parts, ", ")
}

func (w writer) name(id string) string {
	for i := range w.t.Lanes {
		if w.t.Lanes[i].ID == id {
			return w.t.Lanes[i].Name
		}
	}
	return id
}
