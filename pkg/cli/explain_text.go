package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"stopgate/pkg/gate"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
	"stopgate/pkg/view"
	"strings"
	"time"
)

// explaining prints one explanation.
type explaining struct {
	a   *app
	scr view.Screen
	now time.Time
}

func (x explaining) head(text string) {
	x.scr.Line()
	x.scr.Line(x.scr.Paint(text, view.Strong))
}

func (x explaining) field(name, text string) {
	lead := fmt.Sprintf("  %-10s", name)
	x.scr.Text(x.scr.Paint(lead, view.Faint), strings.Repeat(" ", len(lead)), text, view.Normal)
}

func (x explaining) task(id, kind, standing string) {
	x.scr.Text("  ", "    ", view.Clean(fmt.Sprintf("%s (%s): %s", id, cmp.Or(kind, "unknown kind"), standing)), view.Normal)
}

// evidence says how a launch was seen, and where.
func (x explaining) evidence(l transcript.Launch) {
	how := map[transcript.Evidence]string{
		transcript.PostToolUse:   "a PostToolUse event",
		transcript.ToolUseResult: "the structured result in a transcript",
		transcript.TextAsked:     "the result's first sentence; its call asked for the background",
		transcript.Text:          "the result's first sentence alone, which a command can print too",
		transcript.Meta:          "the parent in its meta file",
	}[l.Evidence]
	text := "by " + cmp.Or(how, "unknown evidence")
	if l.ToolUseID != "" {
		text += ", call " + l.ToolUseID
	}
	if !l.At.IsZero() {
		text += ", at " + x.scr.Clock(l.At, x.now)
	}
	x.scr.Text("    ", "    ", view.Clean(text), view.Faint)
	switch {
	case l.File != "" && l.Evidence == transcript.Meta:
		x.scr.Line("    ", x.scr.Paint(view.Clean(l.File), view.Faint))
	case l.File != "":
		where := fmt.Sprintf("byte %d", l.Line)
		if n := x.line(l.File, l.Line); n > 0 {
			where = fmt.Sprintf("line %d", n)
		}
		if l.Evidence == transcript.PostToolUse {
			where = "also " + where // the event told it first
		}
		x.scr.Text("    ", "    ", where+" of "+view.Clean(l.File), view.Faint)
	}
}

// maxCounted bounds how far into a transcript lines are counted, in bytes.
const maxCounted = 256 << 20

// line is the number of the line that begins at an offset; 0 where it cannot be
// told.
func (x explaining) line(path string, offset int64) int {
	if offset > maxCounted {
		return 0
	}
	file, _, err := x.a.h.Files.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close() //nolint:errcheck // only read
	n := 1
	r := bufio.NewReaderSize(io.LimitReader(file, offset), 64<<10)
	var read int64
	for {
		b, err := r.ReadSlice('\n')
		read += int64(len(b))
		if err == nil {
			n++
		} else if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if read < offset {
		return 0
	}
	return n
}

func (x explaining) rule(answers bool, rule string, code gate.Code) {
	if answers {
		x.scr.Text("  "+x.scr.Paint("yes", view.Strong)+"  ", "       ", view.Clean(rule)+" ["+view.Clean(string(code))+"]", view.Strong)
		return
	}
	x.scr.Text("  no   ", "       ", view.Clean(rule), view.Faint)
}

// verdict says what the answer was, and by which rule.
func (x explaining) verdict(block bool, code gate.Code, why string) {
	answer := x.scr.Paint("let through", view.Good)
	if block {
		answer = x.scr.Paint("blocked", view.Alarm)
	}
	x.scr.Line("the stop is ", answer, " [", view.Clean(string(code)), "]")
	x.field("why", view.Clean(why))
}

// explanation is what explain --json prints.
type explanation struct {
	SessionID string          `json:"session_id"`
	Number    uint64          `json:"number"`
	Time      *time.Time      `json:"time"`
	AgentID   string          `json:"agent_id"`
	Verdict   string          `json:"verdict"`
	Code      string          `json:"code"`
	Why       string          `json:"why"`
	Note      string          `json:"note"`
	Held      int64           `json:"held_ms"`
	Policy    []string        `json:"policy"`
	Tasks     []explainedTask `json:"tasks"`
	Rules     []explainedRule `json:"rules"`
}

type explainedTask struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Owner    string `json:"owner"`
	Evidence string `json:"evidence"`
	State    string `json:"state"`
	Command  string `json:"command"`
}

type explainedRule struct {
	Rule    string `json:"rule"`
	Code    string `json:"code"`
	Answers bool   `json:"answers"`
}

// rules takes in the rules that were asked, the last of which answered.
func (e *explanation) rules(steps []gate.Step) {
	for _, s := range steps {
		e.Rules = append(e.Rules, explainedRule{s.Rule, string(s.Code), s.Answers})
		e.Why = s.Rule
	}
}

func (e *explanation) print(a *app) error {
	if e.Policy == nil {
		e.Policy = []string{}
	}
	return status.WriteJSON(a.h.Stdout, e)
}
