//go:build fleet

package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"stopgate/pkg/gate"
	"stopgate/pkg/ledger"
	"stopgate/pkg/replay/replaytest"
	"stopgate/pkg/state"
	"stopgate/pkg/status"
	"stopgate/pkg/transcript"
)

const captures = "../pkg/replay/testdata/captures"

// recording is what the store of a recorded session holds in the end.
type recording struct {
	name, version string
	snap          ledger.Snapshot
}

func recordings(t *testing.T) []recording {
	t.Helper()
	folders, err := filepath.Glob(captures + "/*/*")
	if err != nil || len(folders) < 20 {
		t.Fatal(folders, err)
	}
	var all []recording
	for _, folder := range folders {
		rec, play := replaytest.Played(t, folder)
		snap, err := ledger.ReadFile(t.Context(), play.State.Stores()[0])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, recording{filepath.Base(folder), rec.Version(), snap})
	}
	return all
}

// machine is one of a team's.
type machine struct {
	name string
	dir  state.Dir
	home string
}

// truth is what happened on the machines, as it was made up.
type truth struct {
	sessions, results, wakes int
	stops                    map[[2]string]int // by verdict and code
	blocks                   map[string]int    // by session
	held                     time.Duration
	heldBy                   map[string]time.Duration // by machine
	holds                    int
	// tasks are told by the status, which is no part of what exports.
	tasks         map[string]int // by state
	left, unheard int
	stranded      map[string]int // by version
	// acts are what persons did, by deed, couriers how their waiting ended, and records
	// all that the log has, by event.
	acts, couriers, records map[string]int
}

// team makes machines with sessions in the last five days, each a recorded one with
// other ids and times, with holds, results and wakes that the recordings have not.
func team(t *testing.T, machines, sessions int) ([]machine, *truth) {
	t.Helper()
	recs, root := recordings(t), t.TempDir()
	for _, r := range recs {
		line := fmt.Sprintf(`{"type":"user","version":%q}`+"\n", r.version)
		if err := os.WriteFile(filepath.Join(root, r.version+".jsonl"), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tr := &truth{stops: map[[2]string]int{}, blocks: map[string]int{}, heldBy: map[string]time.Duration{}, tasks: map[string]int{}, stranded: map[string]int{}, acts: map[string]int{}, couriers: map[string]int{}, records: map[string]int{}}
	var all []machine
	var mu sync.Mutex
	var wg sync.WaitGroup
	room := make(chan struct{}, runtime.NumCPU())
	for m := range machines {
		home := filepath.Join(root, fmt.Sprintf("laptop-%02d", m))
		all = append(all, machine{fmt.Sprintf("laptop-%02d", m), state.At(filepath.Join(home, "state")), home})
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			random := rand.New(rand.NewPCG(1, uint64(m)))
			for i := m; i < sessions; i += machines {
				r := recs[i%len(recs)]
				s := made{recording: r, random: random, id: uuid(random), transcript: filepath.Join(root, r.version+".jsonl")}
				if err := s.write(t.Context(), all[m].dir, &mu, tr, all[m].name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, m := range all {
		src := status.Source{Dir: m.dir, Now: time.Now(), Env: func(string) string { return "" }}
		st, err := src.Load(t.Context(), status.Filter{All: true, Bare: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range st.Sessions {
			tr.judge(s)
		}
	}
	return all, tr
}

// judge counts what became of a session's tasks.
func (tr *truth) judge(s status.Session) {
	version := strings.TrimSuffix(filepath.Base(s.Transcript), ".jsonl")
	for _, task := range s.Tasks {
		tr.tasks[string(task.State)]++
		if task.State == status.TaskUndelivered {
			tr.unheard++
			tr.stranded[version]++
		}
		for _, stop := range s.Stops {
			if stop.AgentID == task.Owner && task.Owner != transcript.Main && stop.Verdict == ledger.Allow && contains(stop.Own, task.ID) {
				tr.left++
				tr.stranded[version]++
				break
			}
		}
	}
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

func uuid(r *rand.Rand) string {
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", r.Uint32(), r.Uint32N(1<<16), r.Uint32N(1<<12), r.Uint32N(1<<12), r.Uint64N(1<<48))
}

// made is a session that is made after a recorded one.
type made struct {
	recording
	random     *rand.Rand
	id         string
	transcript string
}

func (s *made) write(ctx context.Context, dir state.Dir, mu *sync.Mutex, tr *truth, host string) error {
	begun := time.Now().Add(-time.Duration(1+s.random.Int64N(5*24*60-90)) * time.Minute).Add(-time.Hour)
	shift := begun.Sub(s.snap.Session.Begun)
	at := func(t time.Time) time.Time {
		if t.IsZero() {
			return t
		}
		return t.Add(shift)
	}
	mu.Lock()
	defer mu.Unlock()
	tr.sessions++
	return ledger.Update(ctx, dir, s.id, begun, func(tx *ledger.Tx) error {
		rec := s.snap.Session
		tx.Session.Cwd, tx.Session.Transcript = rec.Cwd, s.transcript
		tx.Session.LastEvent, tx.Session.LastEventAt, tx.Session.Ended = rec.LastEvent, at(rec.LastEventAt), at(rec.LastEventAt)
		tx.Session.Listed, tx.Session.ListedAt = rec.Listed, at(rec.ListedAt)
		for _, a := range s.snap.Agents {
			a.First, a.Last, a.Started, a.Stopped, a.Idle, a.LastSumAt, a.Answered = at(a.First), at(a.Last), at(a.Started), at(a.Stopped), at(a.Idle), at(a.LastSumAt), at(a.Answered)
			a.Transcript = ""
			tx.PutAgent(a)
		}
		var learned ledger.Learned
		for _, l := range s.snap.Launches {
			l.At, l.File, l.Output = at(l.At), "", ""
			learned.Launches = append(learned.Launches, l)
		}
		for _, e := range s.snap.Ends {
			e.At, e.Output = at(e.At), ""
			learned.Ends = append(learned.Ends, e.End)
			if !e.Delivered.IsZero() {
				learned.Deliveries = append(learned.Deliveries, transcript.Delivery{Task: e.Task, To: e.DeliveredTo, At: at(e.Delivered)})
			}
		}
		tx.Merge(learned)
		for _, stop := range s.snap.Stops {
			stop.Time = at(stop.Time)
			s.hold(tx, &stop, tr, host)
			s.add(tx, stop, tr)
			if stop.Verdict == ledger.Block && stop.Held == 0 && s.random.IntN(2) == 0 { // and is let go with them
				stop.Time, stop.Verdict, stop.Code = stop.Time.Add(time.Second), ledger.Allow, string(gate.BudgetSpent)
				s.add(tx, stop, tr)
			}
		}
		s.acts(tx, tr)
		return nil
	})
}

func (s *made) add(tx *ledger.Tx, stop ledger.Stop, tr *truth) {
	tx.AddStop(stop)
	tr.stops[[2]string{stop.Verdict, stop.Code}]++
	tr.records["stopgate.stop"]++
	if stop.Verdict == ledger.Block {
		tr.blocks[s.id]++
	}
}

// acts adds what a session's record has beside its stops.
func (s *made) acts(tx *ledger.Tx, tr *truth) {
	do := func(deed ledger.Deed, event string) {
		tx.AddAct(ledger.Act{Deed: deed, AgentID: "a85c14a6928672ba4", Tasks: []string{"bxxxxxxx1"}})
		if event != "" {
			tr.records[event]++
		}
	}
	for _, end := range []struct {
		deed       ledger.Deed
		how, event string
	}{{ledger.Woke, "woke", ""}, {ledger.Left, "left", "stopgate.courier.left"}, {ledger.Fell, "lost", "stopgate.courier.lost"}} {
		if s.random.IntN(4) == 0 {
			do(ledger.Stood, "stopgate.courier.stood")
			do(end.deed, end.event)
			tr.couriers[end.how]++
		}
	}
	for deed, event := range map[ledger.Deed]string{ledger.Released: "stopgate.release", ledger.SwitchedOff: "stopgate.off", ledger.SwitchedOn: "stopgate.on"} {
		if s.random.IntN(5) == 0 {
			do(deed, event)
			tr.acts[string(deed)]++
		}
	}
	do(ledger.Held, "stopgate.hold")
}

// hold makes of a stop that was blocked at once, in two of three cases, one that was
// held until its tasks ended; in the third a courier tells of them.
func (s *made) hold(tx *ledger.Tx, stop *ledger.Stop, tr *truth, host string) {
	stop.Duration = time.Duration(2000+s.random.Int64N(20000)) * time.Microsecond
	if stop.Verdict != ledger.Block {
		return
	}
	if s.random.IntN(3) == 0 {
		for _, task := range stop.Own {
			if _, told := tx.Courier(task); !told {
				tx.PutCourier(ledger.Courier{Task: task, AgentID: stop.AgentID, At: stop.Time.Add(time.Second)})
				tr.wakes++
				tr.records["stopgate.courier"]++
			}
		}
		return
	}
	held := time.Duration(1+s.random.IntN(900)) * time.Second
	stop.Held, stop.Duration = held, stop.Duration+held
	stop.Code, stop.Ended, stop.Limit, stop.Host = string(gate.TaskEnded), stop.Own, "hold", "stream"
	for _, task := range stop.Own {
		tx.Charge(task, held, true)
	}
	tr.results += len(stop.Own)
	tr.held += held
	tr.heldBy[host] += held
	tr.holds++
}

// firstOf is the id of one of a machine's sessions.
func firstOf(t *testing.T, m machine) string {
	t.Helper()
	snap, err := ledger.ReadFile(t.Context(), m.dir.Stores()[0])
	if err != nil {
		t.Fatal(err)
	}
	return snap.Session.ID
}
