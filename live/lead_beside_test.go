//go:build live

package live

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stopgate/live/model"
)

// again is the coordinator of a second run of the same session.
const again = "again"

// A beside is a print run in which something else happens while the coordinator is
// held, or after it.
type beside struct {
	name string
	// since is the oldest client that has what it plays, host the first one if nil.
	since   string
	host    *unattended
	install []string
	// settings are merged by the client beside what install wrote.
	settings string
	args     []string
	env      []string
	agents   []string
	lead     func(w *world, agents ...string) model.Script
	more     func(w *world) scripts
	// again are the arguments of a second run.
	again []string
	// want are the right results; nil where kill ends the client.
	want []string
	kill bool
	// least and most bound the run's time, turns the coordinator's, 9 if zero.
	least, most time.Duration
	turns       int
	// check looks at what is special.
	check func(t *testing.T)
}

const bothResults = "lead: answer: results of a and b"

// besides makes the runs; each is played by a value of its own.
func besides() []beside {
	return []beside{
		{
			name: "new work after the block is waited for again", agents: []string{"a", "b"}, lead: leadingOn,
			want: []string{bothResults}, least: 2 * agentTime, most: 80 * time.Second,
		},
		{
			name: "another Stop hook that blocks once", agents: []string{"a", "b"}, settings: blockingHook(1),
			want: []string{bothResults}, least: agentTime, most: 60 * time.Second,
		},
		{
			name: "a Stop hook that blocks five times, as a goal's loop does", agents: []string{"a", "b"}, settings: blockingHook(5),
			want: []string{bothResults}, least: agentTime, most: 60 * time.Second, turns: 14,
		},
		promptHook(),
		named(),
		compaction(),
		{
			name: "an agent that the coordinator's one tool call resumes", since: "2.1.198", agents: []string{"a"}, lead: resuming, more: resumed,
			host: &unattendedHosts[3],
			want: []string{"lead: answer: results of a and again"}, least: 2 * agentTime, most: 80 * time.Second,
		},
		{
			name: "a session that is continued", agents: []string{"a"}, more: secondRun, again: []string{"--continue"},
			want: []string{"lead: answer: results of a", "again: answer: results of b"}, least: 2 * agentTime, most: 80 * time.Second,
		},
		{
			name: "a session that is resumed by its id", agents: []string{"a"}, more: secondRun, again: []string{"--resume", "SESSION"},
			want: []string{"lead: answer: results of a", "again: answer: results of b"}, least: 2 * agentTime, most: 80 * time.Second,
		},
		{
			name: "the patience is shorter than the work", agents: []string{"a"}, install: []string{"--patience", "5s"},
			want: []string{"lead: answer: results of "}, least: 5 * time.Second, most: 60 * time.Second,
		},
		{
			name: "a turn limit that leaves room", agents: []string{"a", "b"}, args: []string{"--max-turns", "6"},
			want: []string{bothResults}, least: agentTime, most: 60 * time.Second,
		},
		{
			name: "a budget that leaves room", agents: []string{"a", "b"}, args: []string{"--max-budget-usd", "50"},
			want: []string{bothResults}, least: agentTime, most: 60 * time.Second,
		},
		{name: "the client is ended from outside", agents: []string{"a"}, kill: true, most: 40 * time.Second},
	}
}

// TestLeadBesideOthers: the coordinator's hold beside what else there is.
func TestLeadBesideOthers(t *testing.T) {
	if skip != "" {
		t.Skip(skip)
	}
	if *smokeFlag || *realtimeFlag > 0 {
		t.Skip("only the whole suite")
	}
	for _, c := range under.Clients {
		for _, b := range besides() {
			if older(c.Version, b.since) {
				continue
			}
			t.Run(c.Version+"/"+b.name, func(t *testing.T) {
				t.Parallel()
				playBeside(t, c, b)
			})
		}
	}
}

func playBeside(t *testing.T, c clientUnderTest, b beside) {
	t.Helper()
	h := unattendedHosts[0]
	if b.host != nil {
		h = *b.host
	}
	h.args, h.install, h.settings, h.kill, h.lead = b.args, b.install, b.settings, b.kill, b.lead
	h.more, h.again, h.env = b.more, b.again, append(slices.Clone(h.env), b.env...)
	r := playUnattended(t, c, h, true, b.agents...)
	if b.kill { // a client that is killed leaves its own tasks behind
		r.left = slices.DeleteFunc(r.left, func(line string) bool { return !strings.Contains(line, "stopgate/bin/hook") })
	}
	if !slices.Equal(r.results, b.want) {
		t.Errorf("results %q, want %q\n%s", r.results, b.want, r.story)
	}
	turns := max(b.turns, 9)
	if r.took < b.least || r.took > time.Duration(float64(b.most)*slowness()) || len(r.left) > 0 || r.asked > turns {
		t.Errorf("took %s, asked %d times, left running %q\n%s", r.took, r.asked, r.left, r.story)
	}
	if b.check != nil {
		b.check(t)
	}
	t.Logf("took %s; the coordinator was asked %d times\n%s", r.took.Round(100*time.Millisecond), r.asked, r.story)
}

// leadingOn starts its second agent only when it is asked to call one tool.
func leadingOn(_ *world, agents ...string) model.Script {
	plain := leading(agents...)
	return func(turn int, r model.Request) blocks {
		switch {
		case turn == 0:
			return blocks{agent("a", true)}
		case strings.Contains(r.Feedback(), oneTool) && !strings.Contains(r.AllText(), result("of-b")) && turn < 4:
			return blocks{agent("b", true)}
		}
		return plain(max(turn, 1), r)
	}
}

// blockingHook are settings with a Stop hook that blocks so many times.
func blockingHook(times int) string {
	return fmt.Sprintf(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"[ $(cat $HOME/blocks 2>/dev/null | wc -c) -ge %d ] || { printf x >>$HOME/blocks; echo '{\"decision\":\"block\",\"reason\":\"say it again\"}'; }"}]}]}}`, times)
}

// promptHook is a run with a hook on Stop that asks a model, which is content only
// the second time.
func promptHook() beside {
	var asked atomic.Int32
	return beside{
		name: "a prompt hook on Stop that is content the second time", agents: []string{"a", "b"},
		settings: `{"hooks":{"Stop":[{"hooks":[{"type":"prompt","prompt":"JUDGE-4711 $ARGUMENTS","timeout":30}]}]}}`,
		more: func(*world) scripts {
			return scripts{model.Helper: func(_ int, r model.Request) blocks {
				switch {
				case !strings.Contains(r.NewText(), "JUDGE-4711"):
					return nil
				case asked.Add(1) == 1:
					return blocks{model.Text(`{"ok": false, "reason": "say it again"}`)}
				}
				return blocks{model.Text(`{"ok": true}`)}
			}}
		},
		want: []string{bothResults}, least: agentTime, most: 60 * time.Second,
		check: func(t *testing.T) {
			if n := asked.Load(); n < 2 {
				t.Errorf("the prompt hook asked %d times", n)
			}
		},
	}
}

// compaction is a run whose conversation is full when the coordinator ends its turn,
// so that it is compacted when the hold has ended.
func compaction() beside {
	var compacted atomic.Bool
	return beside{
		name: "a conversation that is compacted behind the hold", agents: []string{"a", "b"},
		env: []string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW=100000", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=50"},
		lead: func(_ *world, agents ...string) model.Script {
			plain := leading(agents...)
			return func(turn int, r model.Request) blocks {
				switch {
				case r.Compacts():
					compacted.Store(true)
					return model.Summary(lead, "Two agents are at work.")
				case compacted.Load():
					return plain(max(turn, 1), r)
				}
				answer := plain(turn, r)
				if turn == 1 {
					answer[0].Tokens = 190_000
				}
				return answer
			}
		},
		want: []string{bothResults}, least: agentTime, most: 60 * time.Second,
		check: func(t *testing.T) {
			if !compacted.Load() {
				t.Error("nothing was compacted")
			}
		},
	}
}

// resuming wakes its agent again with the one tool call that it is asked for.
func resuming(w *world, agents ...string) model.Script {
	plain := leading(append(slices.Clone(agents), again)...)
	return func(turn int, r model.Request) blocks {
		switch k, _ := w.server.Task("a"); {
		case turn == 0:
			return blocks{agent("a", true)}
		case strings.Contains(r.AllText(), oneTool) && !r.Used("SendMessage"): // it may be searched for first
			return blocks{model.Use("SendMessage", map[string]any{"to": k.ID, "summary": "once more", "message": onceMore})}
		}
		return plain(max(turn, 1), r)
	}
}

const onceMore = "ONCE-MORE-4711 please"

// resumed is the agent a with a second task in its second life.
func resumed(w *world) scripts {
	plain := w.patient("a", blocks{sleeping("of-a", agentTime)})
	return scripts{"a": func(turn int, r model.Request) blocks {
		if strings.Contains(r.NewText(), onceMore) {
			return blocks{sleeping("of-again", agentTime)}
		}
		return plain(turn, r)
	}}
}

// sleeping launches a task that ends by itself.
func sleeping(label string, d time.Duration) model.Block {
	return model.Launch(label, "Bash", map[string]any{"description": label, "run_in_background": true,
		"command": fmt.Sprintf("sleep %g; echo RESULT-$((6*7))-%s", d.Seconds(), label)})
}

// secondRun is the coordinator of a second run, and its agent.
func secondRun(w *world) scripts {
	return scripts{again: leadingAs(again, "b"), "b": w.patient("b", blocks{sleeping("of-b", agentTime)})}
}

// named is a team in a print run: there its members are agents in the background that
// have a name.
func named() beside {
	return beside{
		name: "a team of which one mate works and one is idle", env: teamMode,
		lead: func(w *world, _ ...string) model.Script {
			return w.teamLead(w.teammate("a", "ping"), w.teammate("b", "pong"))
		},
		more: func(w *world) scripts {
			return scripts{"a": w.patient("a", blocks{sleeping("of-a", agentTime)}), "b": steps("b", blocks{work(0.1)})}
		},
		want: []string{"lead: has waited"}, least: agentTime, most: 60 * time.Second,
	}
}
