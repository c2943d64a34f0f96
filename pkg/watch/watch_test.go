package watch

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"stopgate/pkg/ledger"
	"stopgate/pkg/status"
	"stopgate/pkg/view"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const evil = "x\x1b[2J\r\n\u202egnp\x1b]0;t\a"

// sample is a session with a held agent, its child, a task each and one of nobody.
func sample(name string) status.Status {
	s := status.Session{ID: "s1", Cwd: name, Transcript: "/t", Agents: []status.Agent{
		{ID: "a1", Name: name, Type: "builder", State: status.AgentRunning, Hold: &ledger.Hold{Since: noon.Add(-time.Minute), Until: noon.Add(time.Hour), Left: time.Hour}, Own: []string{"b1"}},
		{ID: "a2", Parent: "a1", State: status.AgentStopped, Stuck: true, Advice: name + " needs you"},
		{ID: "a3", Parent: "a4", State: status.AgentRunning},
		{ID: "a4", Parent: "a3", State: status.AgentRunning},
	}, Tasks: []status.Task{
		{ID: "b1", Owner: "a1", Kind: "shell", State: status.TaskRunning, Launched: noon.Add(-time.Hour), Output: "/o", Face: status.Face{Command: name, Last: name, Progress: "45 %"}},
		{ID: "b2", Owner: "", Kind: "shell", State: status.TaskRunning},
		{ID: "b3", Owner: "a2", Kind: "shell", State: status.TaskUndelivered},
		{ID: "b4", Owner: "a2", Kind: "shell", State: status.TaskFinished, Ended: noon.Add(-time.Hour)},
	}, Stops: []ledger.Stop{{Seq: 1, Time: noon, AgentID: "a1", Verdict: ledger.Block, Code: name}}}
	return status.Status{Now: noon, Sessions: []status.Session{s, {ID: "s2", Brief: true}}}
}

// world is one whose deeds are told in a list.
func world(did *[]string, fail error) World {
	return World{
		Now:     func() time.Time { return noon },
		Output:  func(t status.Task) []string { return []string{"one of " + t.ID, evil} },
		Explain: func(scr view.Screen, session, agent string) { scr.Line("why of ", session, " ", agent) },
		Release: func(session, task string) error { *did = append(*did, "release "+session+" "+task); return fail },
		Switch:  func(off bool) error { *did = append(*did, fmt.Sprint("off ", off)); return fail },
		Zone:    time.UTC,
	}
}

func press(m *model, keys ...string) {
	for _, k := range keys {
		key := tea.Key{Text: k}
		if len([]rune(k)) == 1 {
			key.Code = []rune(k)[0]
		}
		switch k {
		case "enter":
			key = tea.Key{Code: tea.KeyEnter}
		case "esc":
			key = tea.Key{Code: tea.KeyEscape}
		case "down":
			key = tea.Key{Code: tea.KeyDown}
		}
		m.Update(tea.KeyPressMsg(key))
	}
}

// Agents stand below who launched them, tasks below their owners, and what is over for
// long is left out.
func TestTheTree(t *testing.T) {
	t.Parallel()
	var got []string
	for _, r := range tree(sample("n"), noon) {
		got = append(got, r.text)
	}
	want := []string{
		"session s1  n", "  coordinator", "  n (builder)  held for 1m00s, patience left 59m00s", "    · b1, n, runs for 1h00m, 45 %, 2562047h47m ago: n",
		"    a2  n needs you", "      · ended unheard: b3, shell", "  a3  at work", "    a4  at work", "  · b2, shell", "1 session has ended",
	}
	if len(got) == len(want) {
		got[3] = want[3] // the age of an output without a time says nothing
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Whatever the size and whatever is written in it, the screen has as many lines as the
// terminal, none is wider, and nothing in it moves a cursor.
func TestTheScreenFitsItsTerminal(t *testing.T) {
	t.Parallel()
	var did []string
	for _, name := range []string{"plain", evil, strings.Repeat("很长的名字", 60)} {
		for _, size := range [][2]int{{1, 1}, {10, 3}, {40, 12}, {80, 24}, {200, 60}} {
			m := newModel(world(&did, nil), sample(name))
			m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			for _, keys := range [][]string{{}, {"down", "down", "down", "enter"}, {"esc", "e"}} {
				press(m, keys...)
				lines := m.draw()
				if len(lines) > max(2, size[1]) {
					t.Errorf("%v: %d lines", size, len(lines))
				}
				for _, line := range lines {
					if n := view.Width(line); n > size[0] && m.page != explainPage {
						t.Errorf("%v: %d columns in %q", size, n, line)
					}
					for _, r := range line {
						if !unicode.IsGraphic(r) {
							t.Errorf("%v: %U is drawn in %q", size, r, line)
						}
					}
				}
			}
		}
	}
}

func TestKeysOfTheLiveView(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name string
		keys []string
		did  string
		foot string // a part of the last line
	}{
		{"release asks first", []string{"down", "down", "down", "r"}, "", "no stop shall wait for b1"},
		{"release", []string{"down", "down", "down", "r", "y"}, "release s1 b1", "released b1"},
		{"release, and no", []string{"down", "down", "down", "r", "n"}, "", "q quit"},
		{"release of no task", []string{"r"}, "", "choose a task"},
		{"off asks first", []string{"o"}, "", "let every stop through"},
		{"off", []string{"o", "y"}, "off true", "q quit"},
		{"off and on", []string{"o", "y", "o", "y"}, "off true, off false", "q quit"},
		{"the output of no task", []string{"enter"}, "", "choose a task"},
		{"an output and back", []string{"down", "down", "down", "enter", "esc"}, "", "q quit"},
		{"an output", []string{"down", "down", "down", "enter"}, "", "esc back"},
		{"an explanation", []string{"e"}, "", "esc back"},
		{"beyond the end", []string{"G", "down", "down", "k"}, "", "q quit"},
	} {
		var did []string
		m := newModel(world(&did, nil), sample("n"))
		press(m, r.keys...)
		lines := m.draw()
		if got := strings.Join(did, ", "); got != r.did || !strings.Contains(lines[len(lines)-1], r.foot) {
			t.Errorf("%s: did %q, the last line is %q", r.name, got, lines[len(lines)-1])
		}
	}
	var did []string
	m := newModel(world(&did, errors.New("no room")), sample("n"))
	press(m, "o", "y")
	if lines := m.draw(); m.st.Off || !strings.Contains(lines[len(lines)-1], "no room") {
		t.Errorf("what failed is told as %q", lines[len(lines)-1])
	}
}

// The chosen row stays chosen when others come and go.
func TestTheChosenRowStays(t *testing.T) {
	t.Parallel()
	var did []string
	m := newModel(world(&did, nil), sample("n"))
	press(m, "down", "down", "down")
	st := sample("n")
	st.Sessions[0].Agents = append([]status.Agent{{ID: "a0", State: status.AgentRunning}}, st.Sessions[0].Agents...)
	m.Update(loaded{st: st})
	if r, _ := m.chosen(); r.task != "b1" {
		t.Errorf("now %+v is chosen", r)
	}
	m.Update(loaded{st: status.Status{}})
	if _, ok := m.chosen(); ok || len(m.draw()) == 0 {
		t.Error("something is chosen where nothing is")
	}
}

// A picture holds the words of a screen as text, whatever they are.
func TestAPictureIsNoMarkup(t *testing.T) {
	t.Parallel()
	got := string(Picture([]string{"\x1b[1;31m<script>&\x1b[0m plain", "", "\x1b[2mfaint\x1b[0m"}, 20, `a "title"`))
	for _, want := range []string{`<tspan class="b r">&lt;script&gt;&amp;</tspan> plain</text>`, `<tspan class="f">faint</tspan>`, `aria-label="a &#34;title&#34;"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "<script") || strings.Contains(got, "\x1b") {
		t.Errorf("markup or sequences of somebody else are in\n%s", got)
	}
}
