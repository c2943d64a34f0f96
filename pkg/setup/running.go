package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stopgate/pkg/ledger"
	"stopgate/pkg/state"
)

// Running is a process of ours that is at work.
type Running struct {
	ledger.Process
	// What says what it does, for people.
	What string

	dir state.Dir
}

const (
	// endWait is how long what works is waited for once it was told to end.
	endWait = 20 * time.Second
	// endStep is how often it is looked after meanwhile.
	endStep = 50 * time.Millisecond
	// readLimit bounds the reading of one session's record.
	readLimit = time.Second
)

// running are the stops that are held, the couriers that wait and, where the system
// tells, whatever else runs the hook just now.
func (w World) running() []Running {
	var all []Running
	add := func(dir state.Dir, p ledger.Process, what string) {
		if p.Lives(w.Host) && !slices.ContainsFunc(all, func(r Running) bool { return r.PID == p.PID }) {
			all = append(all, Running{p, what, dir})
		}
	}
	for _, dir := range w.stateFolders() {
		for _, path := range dir.Stores() {
			ctx, cancel := context.WithTimeout(context.Background(), readLimit)
			snap, err := ledger.ReadFile(ctx, path)
			cancel()
			if err != nil {
				continue // it is broken, or busy: then its process is found below
			}
			for _, h := range snap.Holds {
				add(dir, h.Process, "holds a stop of agent "+h.AgentID+", until "+h.Until.Local().Format("15:04:05")+" at the latest")
			}
			for _, c := range snap.Watches {
				add(dir, c.Process, "waits for a task of agent "+c.AgentID+", until "+c.Until.Local().Format("15:04:05")+" at the latest")
			}
		}
	}
	for _, r := range w.hookProcesses() {
		add(r.dir, r.Process, r.What)
	}
	return all
}

// hookProcesses are the processes that run the installed hook, where the system tells.
func (w World) hookProcesses() []Running {
	var all []Running
	for _, pid := range processesOf(w.Hook()) {
		all = append(all, Running{Process: ledger.Process{PID: pid}, What: "runs the hook"})
	}
	return all
}

// endRunning ends what works by the off switch, at which a held stop is let through
// and a courier leaves, and waits until it is gone. What goes on all the same is an
// error; then the switch is as it was. Else it stays for the moment: it keeps what
// begins just now from doing anything, and goes with everything else.
func (w World) endRunning(ctx context.Context, running []Running) (err error) {
	now := w.Clock.Now()
	var off []state.Dir
	defer func() {
		for _, dir := range off {
			if err != nil {
				_, _ = dir.SwitchOn("") // it ends by itself soon
			}
		}
	}()
	for _, r := range running {
		if _, is := r.dir.OffUntil("", now); r.dir.Path() == "" || is {
			continue
		}
		if err := r.dir.SwitchOff("", now.Add(endWait+time.Minute)); err != nil {
			return err
		}
		off = append(off, r.dir)
	}
	if left := w.await(ctx, running); len(left) > 0 {
		var who []string
		for _, r := range left {
			who = append(who, fmt.Sprintf("process %d %s", r.PID, r.What))
		}
		return fmt.Errorf("%s: end its session, or wait, and purge again; nothing was removed yet", strings.Join(who, "; "))
	}
	return nil
}

// await waits until processes are gone, and returns those that are not in time.
func (w World) await(ctx context.Context, left []Running) []Running {
	for waited := time.Duration(0); len(left) > 0; waited += endStep {
		left = slices.DeleteFunc(slices.Clone(left), func(r Running) bool { return !r.Lives(w.Host) })
		if len(left) > 0 && (waited >= endWait || !w.Clock.Sleep(ctx, endStep)) {
			return left
		}
	}
	return nil
}
