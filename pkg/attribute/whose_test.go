package attribute

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stopgate/pkg/event"
	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/ledger"
	"stopgate/pkg/transcript"
)

// learn is what the ledger knows once it has taken in what a search brought.
func learn(snap ledger.Snapshot, r Result) ledger.Snapshot {
	out := ledger.Snapshot{Launches: map[string]transcript.Launch{}, Cursors: map[string]transcript.Cursor{}}
	for id, l := range snap.Launches {
		out.Launches[id] = l
	}
	for path, c := range snap.Cursors {
		out.Cursors[path] = c
	}
	for _, l := range r.Learned.Launches {
		if have, ok := out.Launches[l.Task]; ok {
			l = transcript.Join(have, l)
		}
		out.Launches[l.Task] = l
	}
	for path, step := range r.Learned.Cursors {
		out.Cursors[path] = step.To
	}
	return out
}

// of makes somebody's lines bear the agent's id, as newer clients write them.
func of(who, lines string) string {
	return strings.ReplaceAll(lines, `{"type":"`, `{"agentId":"`+who+`","type":"`)
}

// Whatever path a stop gives for the agent's transcript, only the agent's own file
// is read as its own, and what another's file says stays to be read as that one's.
func TestAStopThatGivesAWrongPath(t *testing.T) {
	t.Parallel()
	link := func(w *world, to string) string {
		path := filepath.Join(w.dir, "link.jsonl")
		if err := os.Symlink(to, path); err != nil {
			w.t.Fatal(err)
		}
		return path
	}
	given := map[string]func(w *world) string{
		"the root folder":                    func(*world) string { return "/" },
		"a folder":                           func(w *world) string { return w.dir },
		"nothing":                            func(*world) string { return "" },
		"a file that is not there":           func(w *world) string { return filepath.Join(w.dir, "no.jsonl") },
		"the coordinator's":                  func(w *world) string { return w.path(transcript.Main) },
		"the coordinator's, spelt otherwise": func(w *world) string { return filepath.Dir(w.path(transcript.Main)) + "/./s.jsonl" },
		"a link to the coordinator's":        func(w *world) string { return link(w, w.path(transcript.Main)) },
		"a sibling's":                        func(w *world) string { return w.path("a2") },
		"a link to a sibling's":              func(w *world) string { return link(w, w.path("a2")) },
		"its own":                            func(w *world) string { return w.path("a1") },
		"a link to its own":                  func(w *world) string { return link(w, w.path("a1")) },
	}
	for name, path := range given {
		for kind, mark := range map[string]func(who, lines string) string{
			"lines with an agent id":    of,
			"lines without an agent id": func(_, lines string) string { return lines },
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.put("main", launched("b3", true, true))
				w.put("a1", mark("a1", launched("b1", true, false)+says("done")))
				w.put("a2", mark("a2", launched("b2", true, false)+says("done")))
				wrong := w.stop("b9")
				wrong.AgentTranscript = path(w)
				snap := learn(ledger.Snapshot{}, w.find(wrong, ledger.Snapshot{}))

				later := w.stop("b2")
				later.AgentID, later.AgentTranscript = "a2", w.path("a2")
				r := w.find(later, snap)
				if got := owners(r); got != "b2=a2" {
					t.Errorf("the sibling's stop: owners %q", got)
				}
				snap = learn(snap, r)
				if got := owners(w.find(w.stop("b1", "b2", "b3"), snap)); got != "b1=a1 b2=a2 b3=main" {
					t.Errorf("its own next stop: owners %q", got)
				}
			})
		}
	}
}

// A file whose name says nothing is whose the event says; read as somebody else's
// by mistake, it is read anew when its owner comes.
func TestAFileOfNoAgentsName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := filepath.Join(w.dir, "odd.jsonl")
	hosttest.Write(t, w.clock.now, path, of("a2", launched("b2", true, false)+says("done")))
	wrong := w.stop("b2")
	wrong.AgentTranscript = path
	snap := learn(ledger.Snapshot{}, w.find(wrong, ledger.Snapshot{}))
	right := w.stop("b2")
	right.AgentID, right.AgentTranscript = "a2", path
	if got := owners(w.find(right, snap)); got != "b2=a2" {
		t.Errorf("owners %q", got)
	}
}

// An agent of a workflow whose stop names no file is found where it lies.
func TestAnAgentOfAWorkflowWithoutAPath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := filepath.Join(filepath.Dir(w.path("a1")), "workflows", "wf_1")
	hosttest.Write(t, w.clock.now, filepath.Join(dir, "agent-w1.jsonl"), launched("b1", true, false)+says("done"))
	hosttest.Write(t, w.clock.now, filepath.Join(dir, "agent-c1.meta.json"), `{"parentAgentId":"w1"}`)
	e := w.stop("b1", "c1")
	e.AgentID, e.AgentTranscript = "w1", ""
	if got := owners(w.find(e, ledger.Snapshot{})); got != "b1=w1 c1=w1" || strings.Contains(strings.Join(w.opened, " "), "main") {
		t.Errorf("owners %q, opened %q", got, w.opened)
	}
}

// resumed are the lines of a message that woke an agent.
func resumed(who, agent string) string {
	return of(who, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"toolu_m`+agent+`","name":"SendMessage","input":{"to":"`+agent+`"}}]}}`+"\n"+
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_m`+agent+`","content":"{\"success\":true,\"resumedAgentId\":\"`+agent+`\"}"}]}}`+"\n")
}

// That an agent was woken by a message is the weakest sign of whose it is.
func TestAnAgentThatWasResumedByAMessage(t *testing.T) {
	t.Parallel()
	launches := func(who, agent string) string {
		return of(who, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"toolu_`+agent+`","name":"Agent","input":{}}]}}`+"\n"+
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_`+agent+`","content":"Async agent launched successfully.\nagentId: `+agent+` (x)"}]}}`+"\n")
	}
	printed := func(who, task string) string { return of(who, launched(task, false, false)) }
	a2Stops := func(w *world, tasks ...string) event.Event {
		e := w.stop(tasks...)
		e.AgentID, e.AgentTranscript = "a2", w.path("a2")
		return e
	}
	cases := []struct {
		name    string
		prepare func(w *world)
		stop    func(w *world) event.Event
		want    string
	}{
		{"and launched by nobody that is known", func(w *world) { w.put("a1", resumed("a1", "c1")+says("done")) },
			func(w *world) event.Event { return w.stop("c1") }, "c1=a1"},
		{"and launched by the coordinator", func(w *world) {
			w.put("a1", resumed("a1", "c1")+says("done"))
			w.put("main", strings.ReplaceAll(launches("main", "c1"), `"agentId":"main",`, ""))
		}, func(w *world) event.Event { return w.stop("c1") }, "c1=main"},
		{"and launched by a sibling", func(w *world) {
			w.put("a1", resumed("a1", "c1")+says("done"))
			w.put("a2", launches("a2", "c1"))
		}, func(w *world) event.Event { return w.stop("c1") }, "c1=a2"},
		{"whose meta file names another parent", func(w *world) {
			w.put("a1", resumed("a1", "c1")+says("done"))
			w.meta("c1", `{"parentAgentId":"a2"}`)
		}, func(w *world) event.Event { return w.stop("c1") }, "c1=a2"},
		{"and whose launch stands as text that could be printed", func(w *world) {
			w.put("a1", resumed("a1", "b1")+says("done"))
			w.put("a2", printed("a2", "b1"))
		}, func(w *world) event.Event { return w.stop("b1") }, "b1=a2"},
		{"by one whom it had resumed itself", func(w *world) {
			w.put("a1", resumed("a1", "a2")+says("done"))
			w.put("a2", resumed("a2", "a1")+says("done"))
		}, func(w *world) event.Event { return w.stop("a2", "a1") }, ""},
		{"by one whom it had resumed itself, seen by the other", func(w *world) {
			w.put("a1", resumed("a1", "a2")+says("done"))
			w.put("a2", resumed("a2", "a1")+says("done"))
		}, func(w *world) event.Event { return a2Stops(w, "a1", "a2") }, ""},
		{"by its own child", func(w *world) {
			w.put("a1", launches("a1", "a2")+says("done"))
			w.put("a2", resumed("a2", "a1")+says("done"))
		}, func(w *world) event.Event { return a2Stops(w, "a1") }, ""},
		{"by one of three in a ring", func(w *world) {
			w.put("a1", resumed("a1", "a2")+says("done"))
			w.put("a2", resumed("a2", "a3")+says("done"))
			w.put("a3", resumed("a3", "a1")+says("done"))
		}, func(w *world) event.Event { return w.stop("a2", "a3") }, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.prepare(w)
			e := c.stop(w)
			r := w.find(e, ledger.Snapshot{})
			if got := owners(r); got != c.want {
				t.Errorf("owners %q, want %q", got, c.want)
			}
			// Nor when the ledger has it all.
			if got := owners(w.find(e, learn(ledger.Snapshot{}, r))); got != c.want {
				t.Errorf("the next time: owners %q, want %q", got, c.want)
			}
		})
	}
}
