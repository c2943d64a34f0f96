package setup

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"stopgate/pkg/event"
	"stopgate/pkg/host"
	"stopgate/pkg/policy"
	"stopgate/pkg/state"
)

// A recorded agent that ended its turn while a shell of its own ran, reduced to
// what the hook reads. "@" stands for the folder it is unpacked to.
//
//go:embed proof
var proof embed.FS

// proofLimit bounds one run of the hook in a proof.
const proofLimit = 20 * time.Second

// ownCommand is the command of the recorded agent's own task.
const ownCommand = "sleep 20; echo DONEA"

// Proof is how one installed command line answered a recorded event.
type Proof struct {
	Hook Hook
	// Want says what was expected, for people.
	Want string
	// Took is how long it took.
	Took time.Duration
	// Skipped says why it was not run; "" where it was.
	Skipped string
	// Err is how the answer differs from the expected one, and Mend what to do; ""
	// for installing again.
	Err  error
	Mend string
}

// Prove sends a recorded session through entries, as they stand in a settings file,
// in temporary folders: a start, a launch, the stop, which must be blocked, and the
// end. Sources are the settings of a session here, for the variables that they give
// to the Go runtime. Only the program that install put in place is run: a settings
// file can be anybody's. The error is about the proof itself; what an entry did wrong
// stands in its Proof.
func (w World) Prove(ctx context.Context, hooks []Hook, sources []SettingsFile) ([]Proof, error) {
	rec, err := w.load()
	if err != nil {
		return nil, err
	}
	all, err := prove(ctx, hooks, sources, func(program string) (foreign string, err error) { return w.foreign(program, rec) })
	for i, p := range all {
		// Installing leaves such a line alone.
		if p.Hook.ByHand && p.Hook.Program != w.Hook() && errors.Is(p.Err, fs.ErrNotExist) {
			all[i].Mend = "mend " + p.Hook.Path + ", a line of your own, or take it out; then " + again
		}
	}
	return all, err
}

func prove(ctx context.Context, hooks []Hook, sources []SettingsFile, foreign func(program string) (string, error)) ([]Proof, error) {
	root, err := os.MkdirTemp("", "stopgate-proof-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root) //nolint:errcheck // temporary
	// The order of the session, whatever the order of the file.
	order := []string{event.SubagentStart, event.PostToolUse, event.SubagentStop, event.Stop, event.SessionEnd}
	sorted := slices.Clone(hooks)
	slices.SortStableFunc(sorted, func(a, b Hook) int {
		return slices.Index(order, a.Event) - slices.Index(order, b.Event)
	})
	var all []Proof
	for i, h := range sorted {
		proof := Proof{Hook: h}
		proof.Skipped, proof.Err = foreign(h.Program)
		if damaged := new(damagedError); errors.As(proof.Err, &damaged) {
			proof.Mend = damaged.mend()
		}
		if h.ByHand && proof.Err == nil {
			proof.Skipped = "not tried: its line is more than the hook and its arguments"
		}
		if proof.Skipped == "" && proof.Err == nil {
			if proof, err = proveOne(ctx, h, sources, filepath.Join(root, fmt.Sprint("gate", i)), root); err != nil {
				return all, err
			}
		}
		all = append(all, proof)
	}
	return all, nil
}

// proveOne runs one entry. A gate has a session of its own: what one spent, another
// would miss. A stop is also let through where the machine was too slow just then, so
// only a second one tells.
func proveOne(ctx context.Context, h Hook, sources []SettingsFile, own, shared string) (proof Proof, err error) {
	sessions := []string{shared}
	if p, err := h.Policy(); err == nil && p.Mode == policy.Gate && h.Event == event.SubagentStop {
		sessions = []string{own, own + "-again"}
	}
	for _, session := range sessions {
		events, err := unpack(session)
		if err != nil {
			return proof, err
		}
		proof = answer(ctx, h, sessionGo(sources), events[h.Event], session)
		if proof.Err == nil || errors.Is(proof.Err, errNoAnswer) {
			break
		}
	}
	if proof.Err != nil {
		proof.Mend = blame(proof.Err, sources)
	}
	return proof, nil
}

// blame tells what to do where a variable in the settings, rather than the hook, is why
// it failed.
func blame(err error, sources []SettingsFile) string {
	for _, name := range goVariables {
		value, where := Value(func(string) string { return "" }, sources, name)
		if where != "" && strings.Contains(err.Error(), name) {
			mend := fmt.Sprintf("mend %s=%s in the %s: no program of Go starts with it, and an exit code of 2 keeps every agent from stopping", name, value, where)
			if name == "GOMEMLIMIT" {
				mend += "; Go writes it like 4GiB"
			}
			return mend
		}
	}
	return ""
}

func answer(ctx context.Context, h Hook, env []string, payload, root string) Proof {
	p := Proof{Hook: h}
	pol, err := h.Policy()
	stop := h.Event == event.SubagentStop
	switch {
	case err != nil:
		p.Err = fmt.Errorf("the hook does not know this command line and lets every stop through: %w", err)
		return p
	case h.Event == event.Stop && pol.Mode == policy.Lead:
		payload = `{"hook_event_name":"Stop","session_id":"proof","background_tasks":[]}`
		p.Want = "lets the coordinator stop where nothing is at work"
	case payload == "":
		p.Skipped = "no recorded event of this name"
		return p
	case stop && pol.Mode == policy.Courier:
		// What a courier must above all not do is wake for a helper's event.
		payload = ephemeral(payload)
		p.Want = "stays silent for an event that is no agent's"
	case stop && (pol.Observe || pol.Blocks == 0 && (pol.Hold == 0 || pol.Patience == 0) || pol.Ignored(ownCommand)):
		p.Want = "lets the stop through, as its flags say"
	case stop && pol.Hold > 0:
		p.Want = "holds the stop until the task ends, then blocks once with its result"
	case stop:
		p.Want = "blocks the stop"
	default:
		p.Want = "records it silently"
	}
	began := time.Now()
	stdout, stderr, code, err := run(ctx, h, env, payload, root)
	p.Took = time.Since(began)
	blocked := gjson.Get(stdout, "decision").Str == "block" && gjson.Get(stdout, "reason").Str != ""
	switch {
	case err != nil:
		p.Err = err
	case code != 0:
		p.Err = fmt.Errorf("exit code %d: %.200s", code, strings.TrimSpace(stderr))
	case strings.Contains(p.Want, "blocks") && !blocked:
		p.Err = fmt.Errorf("it let the stop through after %s; stdout %.100q%s", p.Took.Round(time.Millisecond), stdout, lastWords(root))
	case !strings.Contains(p.Want, "blocks") && stdout != "":
		p.Err = fmt.Errorf("it printed %.100q", stdout)
	case p.Want == "records it silently" && len(state.At(stateOf(root)).Stores()) == 0:
		p.Err = errors.New("nothing was recorded")
	}
	return p
}

// lastWords is what the hook itself logged last in a proof; "" for nothing.
func lastWords(root string) string {
	log, err := host.Files{}.Read(state.At(stateOf(root)).LogPath())
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	last := lines[len(lines)-1]
	if err != nil || last == "" {
		return ""
	}
	var said []string
	for _, key := range []string{"code", "message", "error"} {
		if s := gjson.Get(last, key).Str; s != "" {
			said = append(said, s)
		}
	}
	return "; it logged " + strings.Join(said, ": ")
}

// stateOf is the state folder of a proof.
func stateOf(root string) string { return filepath.Join(root, "state") }

// errNoAnswer tells that the hook had all the time there is.
var errNoAnswer = fmt.Errorf("no answer within %s", proofLimit)

// run runs an entry's program as the client does, but never through a shell.
func run(ctx context.Context, h Hook, env []string, payload, root string) (stdout, stderr string, code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, proofLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.Program, h.Flags...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(payload), &out, &errs
	cmd.Dir = root
	cmd.WaitDelay = time.Second
	// Neither the switches of this machine nor those of a session around us count.
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "STOPGATE_") && !strings.HasPrefix(v, "CLAUDE") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	cmd.Env = append(cmd.Env, state.EnvDir+"="+stateOf(root))
	err = cmd.Run()
	var exit *exec.ExitError
	if ctx.Err() != nil {
		err = errNoAnswer
	} else if errors.As(err, &exit) {
		code, err = exit.ExitCode(), nil
	}
	return out.String(), errs.String(), code, err
}

// recordedEnd is when the task of the recorded session ended.
const recordedEnd = "2026-11-30T12:45:36.157Z"

// unpack writes the recorded session below root and returns its events by name.
func unpack(root string) (map[string]string, error) {
	quoted, err := json.Marshal(filepath.ToSlash(root))
	if err != nil {
		return nil, err
	}
	// The task ends after the stop that lists it as unfinished, so after now.
	end := time.Now().UTC().Add(time.Minute).Format("2006-01-02T15:04:05.000Z")
	here := strings.NewReplacer("@/", strings.Trim(string(quoted), `"`)+"/", recordedEnd, end)
	agents := filepath.Join(root, "session", "subagents")
	if _, err := host.MakeDirs(agents); err != nil {
		return nil, err
	}
	agent := filepath.Join(agents, "agent-a85c14a6928672ba4")
	for name, to := range map[string]string{
		"session.jsonl":   filepath.Join(root, "session.jsonl"),
		"agent.jsonl":     agent + ".jsonl",
		"agent.meta.json": agent + ".meta.json",
	} {
		data, err := proof.ReadFile("proof/" + name)
		if err != nil {
			return nil, err
		}
		if err := host.Write(to, []byte(here.Replace(string(data))), 0o600); err != nil {
			return nil, err
		}
	}
	data, err := proof.ReadFile("proof/events.jsonl")
	if err != nil {
		return nil, err
	}
	events := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		events[gjson.Get(line, "hook_event_name").Str] = here.Replace(line)
	}
	return events, nil
}

// ephemeral makes an internal fork's event of an agent's.
func ephemeral(payload string) string {
	return strings.Replace(payload, `"agent_type":"general-purpose"`, `"agent_type":""`, 1)
}
