package wait

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/transcript"
)

// add appends to a file, and dates it by the fake clock.
func (p *place) add(name, text string) {
	p.t.Helper()
	hosttest.Append(p.t, p.clock.now, p.path(name), text)
}

func (p *place) stamp(ago time.Duration) string {
	return p.clock.now.Add(-ago).Format(time.RFC3339Nano)
}

// send is a teammate's call of SendMessage.
func (p *place) send(from, to string, ago time.Duration) string {
	return fmt.Sprintf(`{"type":"assistant","agentId":%q,"timestamp":%q,"message":{"content":[{"type":"tool_use","id":"t%d","name":"SendMessage","input":{"to":%q}}]}}`+"\n",
		from, p.stamp(ago), p.clock.now.UnixNano()-int64(ago), to)
}

// entry is one of an inbox.
func (p *place) entry(text string, ago time.Duration, more string) string {
	return fmt.Sprintf(`{"from":"lead","text":%q,"timestamp":%q%s}`, text, p.stamp(ago), more)
}

// turn is a line of the coordinator's turn.
func (p *place) turn(ago time.Duration) string {
	return fmt.Sprintf(`{"type":"assistant","timestamp":%q,"message":{"content":[{"type":"text","text":"so"}]}}`, p.stamp(ago))
}

const stopTask = `{"type":"assistant","timestamp":%q,"message":{"content":[{"type":"tool_use","id":"s1","name":"TaskStop","input":{"task_id":"a1"}}]}}
{"type":"user","timestamp":%q,"message":{"content":[{"type":"tool_result","tool_use_id":"s1","content":"{\"message\":\"Successfully stopped task: a1 (work)\"}"}]}}
`

func TestWhatElseEndsAWait(t *testing.T) {
	t.Parallel()
	const pong, box = "agent-apong.jsonl", "ping.json"
	type row struct {
		name  string
		setup func(*place, *Wait)
		plans map[time.Duration]func(*place)
		why   Why
		// at is when it ends, and late by how much more at the most.
		at, late time.Duration
	}
	tests := []row{
		{"a teammate's message", func(p *place, _ *Wait) { p.add(pong, p.send("apong", "x", time.Hour)) },
			map[time.Duration]func(*place){3 * time.Second: func(p *place) { p.add(pong, p.send("apong", "ping", 0)) }}, Messaged, 3 * time.Second, 2 * time.Second},
		{"a message of a teammate that came later", nil,
			map[time.Duration]func(*place){3 * time.Second: func(p *place) { p.add(pong, p.send("apong", "ping", 0)) }}, Messaged, 3 * time.Second, 2 * time.Second},
		{"a teammate's message, just before the coordinator writes", nil, map[time.Duration]func(*place){
			3 * time.Second:         func(p *place) { p.add(pong, p.send("apong", "x", 0)) },
			3200 * time.Millisecond: func(p *place) { p.add(pong, p.send("apong", "ping", 0)) },
			3400 * time.Millisecond: func(p *place) { p.tell(p.turn(0)) },
		}, Messaged, 3200 * time.Millisecond, 2 * time.Second},
		{"a message of a workflow's agent", func(p *place, w *Wait) {
			path := filepath.Join(p.away, pong)
			hosttest.Write(p.t, p.clock.now, path, p.send("apong", "x", 0))
			w.Senders = func() []string { return []string{path} }
		}, map[time.Duration]func(*place){
			3 * time.Second: func(p *place) {
				hosttest.Append(p.t, p.clock.now, filepath.Join(p.away, pong), p.send("apong", "ping", 0))
			},
		}, Messaged, 3 * time.Second, 2 * time.Second},
		{"a teammate's message sent just before", func(p *place, w *Wait) {
			w.Since = w.Since.Add(-time.Second)
			p.add(pong, strings.Repeat(p.send("apong", "x", time.Hour), 1000)+p.send("apong", "ping", time.Second/2))
		}, nil, Messaged, 0, 0},
		{"not a teammate's old message", func(p *place, _ *Wait) { p.add(pong, p.send("apong", "ping", time.Minute)) }, nil, Deadline, time.Minute, 0},
		{"not an old message before a new line", func(p *place, _ *Wait) { p.add(pong, p.send("apong", "ping", time.Minute)) },
			map[time.Duration]func(*place){3 * time.Second: func(p *place) { p.add(pong, p.send("apong", "x", 0)) }}, Deadline, time.Minute, 0},
		{"not a message to another", nil,
			map[time.Duration]func(*place){3 * time.Second: func(p *place) { p.add(pong, p.send("apong", "pang", 0)) }}, Deadline, time.Minute, 0},
		{"not a line that bears another's name", nil,
			map[time.Duration]func(*place){3 * time.Second: func(p *place) { p.add(pong, p.send("apang", "ping", 0)) }}, Deadline, time.Minute, 0},
		{"a message in a transcript that was replaced", func(p *place, _ *Wait) { p.add(pong, p.send("apong", "x", time.Hour)) },
			map[time.Duration]func(*place){3 * time.Second: func(p *place) {
				p.add("new", p.send("apong", "ping", 0))
				if err := os.Rename(p.path("new"), p.path(pong)); err != nil {
					p.t.Error(err)
				}
			}}, Messaged, 3 * time.Second, 2 * time.Second},
		{"an entry of the inbox", func(p *place, _ *Wait) { p.add(box, "["+p.entry("old", time.Hour, "")+"]") },
			map[time.Duration]func(*place){3 * time.Second: func(p *place) {
				p.write(box, "["+p.entry("old", time.Hour, "")+","+p.entry("new", 0, "")+"]")
			}}, Messaged, 3 * time.Second, 2 * time.Second},
		{"the first entry of an inbox that was not there", nil,
			map[time.Duration]func(*place){3 * time.Second: func(p *place) { p.write(box, `[{"from":"lead","text":"x"}]`) }}, Messaged, 3 * time.Second, 2 * time.Second},
		{"an entry of an inbox in a folder that was not there", func(p *place, w *Wait) {
			w.Inboxes = []string{filepath.Join(p.away, "inboxes", box)}
		}, map[time.Duration]func(*place){
			3 * time.Second: func(p *place) { hosttest.Write(p.t, p.clock.now, filepath.Join(p.away, "inboxes", "other.json"), "[]") },
			7 * time.Second: func(p *place) {
				hosttest.Write(p.t, p.clock.now, filepath.Join(p.away, "inboxes", box), `[{"from":"lead","text":"x"}]`)
			},
		}, Messaged, 7 * time.Second, 2 * time.Second},
		{"one more entry without a time", func(p *place, _ *Wait) { p.add(box, `[{"from":"lead","text":"x"}]`) },
			map[time.Duration]func(*place){3 * time.Second: func(p *place) {
				p.write(box, `[{"from":"lead","text":"x"},{"from":"lead","text":"y"}]`)
			}}, Messaged, 3 * time.Second, 2 * time.Second},
		{"an entry that was sent just before", func(p *place, w *Wait) {
			w.Since = w.Since.Add(-time.Second)
			p.add(box, "["+p.entry("new", time.Second/2, "")+"]")
		}, nil, Messaged, 0, 0},
		{"an entry in an inbox that was half written at first", func(p *place, _ *Wait) { p.add(box, `[{"from":"lead","te`) },
			map[time.Duration]func(*place){3 * time.Second: func(p *place) { p.write(box, "["+p.entry("new", 0, "")+"]") }}, Messaged, 3 * time.Second, 2 * time.Second},
		{"not an entry that was there", func(p *place, _ *Wait) { p.add(box, `[{"from":"lead","text":"x"},`+p.entry("old", time.Hour, "")+"]") }, nil, Deadline, time.Minute, 0},
		{"not an entry that was read", nil,
			map[time.Duration]func(*place){3 * time.Second: func(p *place) { p.write(box, "["+p.entry("new", 0, `,"read":true`)+"]") }}, Deadline, time.Minute, 0},
		{"not the news that somebody is idle", nil,
			map[time.Duration]func(*place){3 * time.Second: func(p *place) {
				p.write(box, "["+p.entry(`{"type":"idle_notification"}`, 0, "")+"]")
			}}, Deadline, time.Minute, 0},
		{"not an emptied inbox, or one that is none", func(p *place, _ *Wait) { p.add(box, `[{"from":"lead","text":"x"},{"from":"lead","text":"y"}]`) },
			map[time.Duration]func(*place){
				3 * time.Second:  func(p *place) { p.write(box, "[]") },
				6 * time.Second:  func(p *place) { p.write(box, `{"text":"x"}`) },
				9 * time.Second:  func(p *place) { p.write(box, "\x00\xff") },
				12 * time.Second: func(p *place) { p.write(box, "[1]") },
				15 * time.Second: func(p *place) {
					if err := os.Remove(p.path(box)); err != nil {
						p.t.Error(err)
					}
				},
			}, Deadline, time.Minute, 0},
		{"the coordinator's long quiet", func(p *place, w *Wait) {
			w.Quiet = 20 * time.Second
			p.tell(p.turn(5 * time.Second))
		}, nil, Quieted, 15 * time.Second, 0},
		{"its quiet since a line that came meanwhile", func(p *place, w *Wait) {
			w.Quiet = 20 * time.Second
			p.tell(p.turn(5 * time.Second))
		}, map[time.Duration]func(*place){10 * time.Second: func(p *place) { p.tell(p.turn(0)) }}, Quieted, 30 * time.Second, 0},
		{"not moved by the client's bookkeeping", func(p *place, w *Wait) {
			w.Quiet = 20 * time.Second
			p.tell(p.turn(5 * time.Second))
		}, map[time.Duration]func(*place){10 * time.Second: func(p *place) { p.tell(p.ended("b9", "completed", "x")) }}, Quieted, 15 * time.Second, 0},
		{"its quiet since the start, where no time is told", func(_ *place, w *Wait) { w.Quiet = 20 * time.Second }, nil, Quieted, 20 * time.Second, 0},
		{"its quiet since now, where the clock was set back", func(p *place, w *Wait) {
			w.Quiet = 20 * time.Second
			p.tell(p.turn(-time.Hour))
		}, nil, Quieted, 20 * time.Second, 0},
		{"at once, where it has been quiet for so long", func(p *place, w *Wait) {
			w.Quiet = 20 * time.Second
			p.tell(p.turn(time.Hour))
		}, nil, Quieted, 0, 0},
		{"the deadline, where the quiet would last longer", func(_ *place, w *Wait) { w.Quiet = time.Hour }, nil, Deadline, time.Minute, 0},
		{"that the agent itself was stopped", func(p *place, w *Wait) { w.Self = "a1" },
			map[time.Duration]func(*place){3 * time.Second: func(p *place) {
				p.tell(strings.TrimSuffix(fmt.Sprintf(stopTask, p.stamp(0), p.stamp(0)), "\n"))
			}}, SelfStopped, 3 * time.Second, 0},
		{"that it was stopped, with its task", func(p *place, w *Wait) { w.Self = "a1" },
			map[time.Duration]func(*place){3 * time.Second: func(p *place) {
				p.tell(p.ended("a1", "stopped", "x"))
				p.write("b1", "[killed]\n")
				p.write("b2", "[killed]\n")
			}}, SelfStopped, 3 * time.Second, 0},
		{"that a teammate stopped it", func(p *place, w *Wait) { w.Self, w.Message = "a1", nil },
			map[time.Duration]func(*place){3 * time.Second: func(p *place) {
				p.add(pong, strings.ReplaceAll(fmt.Sprintf(stopTask, p.stamp(0), p.stamp(0)), `"timestamp"`, `"agentId":"apong","timestamp"`))
			}}, SelfStopped, 3 * time.Second, 2 * time.Second},
		{"that the client gave it up", func(p *place, w *Wait) { w.Self = "a1" },
			map[time.Duration]func(*place){3 * time.Second: func(p *place) { p.tell(p.ended("a1", "failed", "Agent stalled")) }}, SelfStopped, 3 * time.Second, 0},
		{"that it was stopped, told before this wait's place in the transcript", func(p *place, w *Wait) {
			w.Self = "a1"
			w.Known = []transcript.End{{Task: "a1", Status: "killed", At: w.Since}}
		}, nil, SelfStopped, 0, 0},
		{"not that it was stopped in an earlier life", func(p *place, w *Wait) {
			w.Self = "a1"
			w.Known = []transcript.End{{Task: "a1", Status: "killed", At: w.Since.Add(-time.Second)}}
			p.tell(strings.Replace(p.ended("a1", "killed", "x"), p.stamp(0), p.stamp(time.Second), 1))
		}, nil, Deadline, time.Minute, 0},
		{"not that it completed", func(p *place, w *Wait) { w.Self = "a1" },
			map[time.Duration]func(*place){3 * time.Second: func(p *place) { p.tell(p.ended("a1", "completed", "x")) }}, Deadline, time.Minute, 0},
		{"not that another was stopped", func(p *place, w *Wait) { w.Self = "a1" },
			map[time.Duration]func(*place){3 * time.Second: func(p *place) { p.tell(p.ended("a2", "killed", "x")) }}, Deadline, time.Minute, 0},
	}
	for _, test := range tests {
		for name, told := range map[string]bool{"": false, ", all that changes being told": true} {
			t.Run(test.name+name, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				w := p.wait("b1", "b2")
				w.Message = func(m transcript.Message) bool { return m.To == "ping" }
				w.Senders = func() []string {
					paths, err := filepath.Glob(p.path("agent-*.jsonl"))
					if err != nil {
						t.Error(err)
					}
					return paths
				}
				w.Inboxes = []string{p.path(box)}
				looks := 0
				if told {
					bell := newBell(p.clock)
					w.Clock, w.Watch, w.Near = belled{bell}, func() (host.Watcher, error) { return bell, nil }, []string{p.path("store"), p.dir}
					w.Due = func() time.Time { looks++; return time.Time{} }
				}
				for at, do := range test.plans {
					p.clock.plans[at] = func() { do(p) }
				}
				if test.setup != nil {
					test.setup(p, w)
				}
				r := w.Run(t.Context())
				if r.Why != test.why || p.took() < test.at || p.took() > test.at+test.late+150*time.Millisecond {
					t.Errorf("ended by %q after %s, want %q after %s", r.Why, p.took(), test.why, test.at)
				}
				if most := 12 + 4*len(test.plans); looks > most {
					t.Errorf("looked %d times, want %d at the most", looks, most)
				}
			})
		}
	}
}

// Teammates that lie still since before the wait cost nothing but a look at
// their names, and one without end is not followed.
func TestManyTeammates(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var paths []string
	for i := range 300 {
		name := fmt.Sprintf("agent-a%d.jsonl", i)
		p.write(name, strings.Repeat(p.send(fmt.Sprintf("a%d", i), "ping", time.Hour), 3))
		if err := os.Chtimes(p.path(name), p.clock.now.Add(-time.Hour), p.clock.now.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p.path(name))
	}
	w := p.wait("b1")
	w.Until = p.clock.now.Add(5 * time.Second)
	w.Message = func(transcript.Message) bool { return true }
	w.Senders = func() []string { return paths }
	p.clock.plans[2*time.Second] = func() { p.add("agent-a299.jsonl", p.send("a299", "ping", 0)) }
	if r := w.Run(t.Context()); r.Why != Messaged {
		t.Errorf("ended by %s", r.Why)
	}
	placed := 0
	for _, s := range w.senders {
		if s.placed {
			placed++
		}
	}
	if placed != 1 {
		t.Errorf("%d transcripts were opened", placed)
	}
}
