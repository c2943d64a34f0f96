package timeline

import (
	"cmp"
	"fmt"
	"time"

	"stopgate/pkg/status"
)

// Picture is a timeline laid out: where everything is drawn. Across, a place is a
// share of the axis from 0 to 1, so that a picture fits any width and any zoom;
// down, it is a number of pixels.
type Picture struct {
	Timeline Timeline
	Height   int
	Rows     []Row
	Arrows   []Arrow
	// Now is where the line of now stands, below 0 for none.
	Now   float64
	Ticks []Tick
	// Merged is up to how long two spans had to be apart to be drawn apart; 0
	// where all are drawn.
	Merged time.Duration
}

// Row is a lane with everything that is drawn in it.
type Row struct {
	Lane *Lane
	// Y and Height bound the row; the lane's own bar stands at its top.
	Y, Height int
	Items     []Item
	// Deadline is where its hold ends at the latest, below 0 for none.
	Deadline float64
}

// Shape is what an item looks like.
type Shape int

// The shapes.
const (
	// ShapeSpan is a piece of the lane's bar, ShapeTask a task's bar, ShapeMark a
	// sign at one time.
	ShapeSpan Shape = iota
	ShapeTask
	ShapeMark
)

// Item is one thing that is drawn in a row.
type Item struct {
	Shape Shape
	// Class is its kind in the words of the style sheet.
	Class  string
	X0, X1 float64
	Y      int
	// Label stands beside or in a task's bar, at the given Side.
	Label string
	Side  Side
	// Title is the whole in a sentence.
	Title string
	// Shift is how many pixels a mark stands beside its place, for another does.
	Shift int
	// End is the class of a task's end mark.
	End string
}

// Side is where a label stands.
type Side int

// The sides.
const (
	Inside Side = iota
	Behind
	Before
)

// Arrow is the news of an end on its way.
type Arrow struct {
	// X0 is where the task ended, X1 where the news was heard.
	X0, X1 float64
	Y0, Y1 int
	// Broken marks news that reached nobody.
	Broken bool
	Title  string
}

// Tick is a time on the axis.
type Tick struct {
	X     float64
	Label string
}

// Measures of a picture, in pixels.
const (
	barHeight  = 16
	taskHeight = 15
	taskStep   = 19
	rowGap     = 12
	markSize   = 13
	maxShift   = 3 * markSize
	// drawnWidth is the width for which labels are placed, and letterWidth the
	// width of a letter of one.
	drawnWidth  = 940
	letterWidth = 6.1
	labelLength = 56
)

// Layout lays a timeline out. Its times are shown in the zone that they bear: see
// [Timeline.In].
func Layout(t Timeline) Picture {
	p := Picture{Timeline: t, Now: -1, Ticks: ticks(t.From, t.Until, 8)}
	w := writer{t: t}
	if !t.Ended && !t.Now.Before(t.From) && !t.Now.After(t.Until) {
		p.Now = w.x(t.Now)
	}
	p.Merged = coarse(t.Lanes)
	y := 6
	tops := map[string]int{}
	for i := range t.Lanes {
		row := w.row(&t.Lanes[i], y, p.Merged)
		tops[t.Lanes[i].ID] = y
		p.Rows = append(p.Rows, row)
		y += row.Height
	}
	p.Height = y
	p.Arrows = w.arrows(p.Rows, tops)
	return p
}

// writer lays the parts of one timeline out.
type writer struct{ t Timeline }

// x is where a time stands on the axis.
func (w writer) x(at time.Time) float64 {
	whole := w.t.Until.Sub(w.t.From)
	if whole <= 0 {
		return 0
	}
	return min(1, max(0, float64(at.Sub(w.t.From))/float64(whole)))
}

func (w writer) row(l *Lane, y int, merged time.Duration) Row {
	r := Row{Lane: l, Y: y, Deadline: -1}
	if !l.Deadline.IsZero() {
		r.Deadline = w.x(l.Deadline)
	}
	for _, s := range coarser(l.Spans, merged) {
		title := fmt.Sprintf("%s %s for %s, %s to %s", l.Name, words[s.Doing], span(s.Until.Sub(s.From)), clock(s.From), clock(s.Until))
		if s.About != "" {
			title = fmt.Sprintf("%s %s %s, for %s, %s to %s", l.Name, words[s.Doing], s.About, span(s.Until.Sub(s.From)), clock(s.From), clock(s.Until))
		}
		r.Items = append(r.Items, Item{Shape: ShapeSpan, Class: string(s.Doing), X0: w.x(s.From), X1: w.x(s.Until), Y: y, Title: title})
	}
	lines := w.tasks(&r, y)
	free := -1.0
	for _, m := range l.Marks {
		x := w.x(m.At)
		shift := max(0, min(maxShift, free-x*drawnWidth))
		free = x*drawnWidth + shift + markSize + 1
		r.Items = append(r.Items, Item{Shape: ShapeMark, Class: string(m.Kind), X0: x, X1: x, Y: y, Shift: int(shift), Title: clock(m.At) + " " + l.Name + ": " + m.Text})
	}
	r.Height = barHeight + rowGap + lines*taskStep
	if lines > 0 {
		r.Height += 4
	}
	return r
}

// words say what an agent does.
var words = map[Doing]string{Working: "works", Waiting: "waits", Held: "is held", Idle: "is idle"}

// tasks places the tasks of a lane on as few lines as there are without an overlap,
// and gives their number.
func (w writer) tasks(r *Row, y int) int {
	var free []float64 // how far each line is taken, in pixels of drawnWidth
	for i := range r.Lane.Tasks {
		t := &r.Lane.Tasks[i]
		it := Item{Shape: ShapeTask, Class: classOf(t), End: endOf(t), X0: w.x(t.From), X1: w.x(t.Until), Title: w.taskTitle(r.Lane, t), Label: taskLabel(t)}
		from, until := place(&it)
		line := 0
		for line < len(free) && free[line] > from {
			line++
		}
		if line == len(free) {
			free = append(free, 0)
		}
		free[line] = until + 8
		it.Y = y + barHeight + 5 + line*taskStep
		r.Items = append(r.Items, it)
	}
	return len(free)
}

// place chooses the side of a task's label, and gives what bar and label take, in
// pixels of drawnWidth.
func place(it *Item) (from, until float64) {
	from, until = it.X0*drawnWidth, it.X1*drawnWidth
	text := float64(len([]rune(it.Label)))*letterWidth + 12
	switch {
	case until-from > text+6:
		it.Side = Inside
	case until+text < drawnWidth || from < text:
		it.Side = Behind
		until += text
	default:
		it.Side = Before
		from -= text
	}
	return max(0, from), until
}

func classOf(t *Task) string {
	switch {
	case t.State == status.TaskFinished && t.Failed():
		return "failed"
	case t.Unheard:
		return "unheard"
	}
	return string(t.State)
}

// endOf is the class of the mark at a task's end.
func endOf(t *Task) string {
	switch t.State {
	case status.TaskRunning:
		return ""
	case status.TaskKilled:
		return "killed"
	case status.TaskUnknown:
		return "unknown"
	}
	if t.Failed() {
		return "failed"
	}
	return "good"
}

// arrows are the news of the tasks' ends, and of the ends of agents.
func (w writer) arrows(rows []Row, tops map[string]int) []Arrow {
	var out []Arrow
	for _, r := range rows {
		at := 0
		for i := range r.Lane.Tasks {
			for r.Items[at].Shape != ShapeTask {
				at++
			}
			out = append(out, w.news(&r.Lane.Tasks[i], r.Y, r.Items[at].Y+taskHeight/2, tops)...)
			at++
		}
		if self := r.Lane.Self; self != nil {
			out = append(out, w.news(self, r.Y, r.Y+barHeight/2, tops)...)
		}
	}
	return out
}

// news are the arrows of one end: from y, below the lane at own.
func (w writer) news(t *Task, own, y int, tops map[string]int) []Arrow {
	if t.Unheard {
		x := w.x(t.Until)
		return []Arrow{{X0: x, X1: x, Y0: y, Y1: max(own-4, y-22), Broken: true, Title: "nobody heard of the end of " + cmp.Or(t.Text, t.ID)}}
	}
	var out []Arrow
	for _, n := range t.News {
		top, known := tops[n.To]
		if !known || top == own && y == own+barHeight/2 {
			continue // its own lane, or one that is not drawn
		}
		to := top + barHeight // from below
		if top > y {
			to = top
		}
		out = append(out, Arrow{
			X0: w.x(t.Until), X1: w.x(n.At), Y0: y, Y1: to,
			Title: fmt.Sprintf("%s %s heard of the end of %s from the %s, %s after", clock(n.At), w.name(n.To), cmp.Or(t.Text, t.ID), n.By, span(max(0, n.At.Sub(t.Until)))),
		})
	}
	return out
}
