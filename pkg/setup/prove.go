package setup

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"stopgate/pkg/event"
	"stopgate/pkg/policy"
	"stopgate/pkg/settings"
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
	Entry settings.Entry
	// Want says what was expected, for people.
	Want string
	// Took is how long it took.
	Took time.Duration
	// Skipped says why nothing can be expected of the entry; "" where it ran.
	Skipped string
	// Err is how the answer differs from the expected one.
	Err error
}

// Prove sends a recorded session through the command lines of entries, as they
// stand in a settings file, in temporary folders: a start, a launch, the stop,
// which must be blocked, and the end. Sources are the settings of a session here,
// for the variables that they give to the Go runtime. The error is about the proof itself; what an entry did wrong stands in
// its Proof.
func Prove(ctx context.Context, entries []settings.Entry, sources []Source) ([]Proof, error) {
	env := sessionGo(sources)
	root, err := os.MkdirTemp("", "stopgate-proof-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root) //nolint:errcheck // temporary
	// The order of the session, whatever the order of the file.
	order := []string{event.SubagentStart, event.PostToolUse, event.SubagentStop, event.Stop, event.SessionEnd}
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b settings.Entry) int {
		return slices.Index(order, a.Event) - slices.Index(order, b.Event)
	})
	var all []Proof
	for i, e := range sorted {
		sessions := []string{root}
		if p, err := Policy(e); err == nil && p.Mode == policy.Gate && e.Event == event.SubagentStop {
			// A session of its own for each gate: what one spent, another would
			// miss. A stop is also let through where the machine was too slow just
			// then, so only a second one tells.
			own := filepath.Join(root, fmt.Sprint("gate", i))
			sessions = []string{own, own + "-again"}
		}
		var proof Proof
		for _, session := range sessions {
			events, err := unpack(session)
			if err != nil {
				return all, err
			}
			proof = prove(ctx, e, env, events[e.Event], session)
			if proof.Err == nil || errors.Is(proof.Err, errNoAnswer) {
				break
			}
		}
		all = append(all, proof)
	}
	return all, nil
}

func prove(ctx context.Context, e settings.Entry, env []string, payload, root string) Proof {
	p := Proof{Entry: e}
	pol, err := Policy(e)
	stop := e.Event == event.SubagentStop
	switch {
	case err != nil:
		p.Err = fmt.Errorf("the hook does not know this command line and lets every stop through: %w", err)
		return p
	case e.Shell && strings.ContainsAny(e.Command, shellMeans):
		p.Skipped = "not tried: a shell would do more with it than run the hook"
		return p
	case e.Event == event.Stop && pol.Mode == policy.Lead:
		payload = `{"hook_event_name":"Stop","session_id":"proof","background_tasks":[]}`
		p.Want = "lets the coordinator stop where nothing is at work"
	case payload == "":
		p.Skipped = "no recorded event of this name"
		return p
	case stop && pol.Mode == policy.Courier:
		// What a courier must above all not do is wake for a helper's event.
		payload = ephemeral(payload)
		p.Want = "stays silent for an event that is no agent's"
	case stop && (pol.Observe || pol.Blocks == 0 || pol.Ignored(ownCommand)):
		p.Want = "lets the stop through, as its flags say"
	case stop && pol.Hold > 0:
		p.Want = "holds the stop until the task ends, then blocks once with its result"
	case stop:
		p.Want = "blocks the stop"
	default:
		p.Want = "records it silently"
	}
	began := time.Now()
	stdout, stderr, code, err := run(ctx, e, env, payload, root)
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
	log, err := os.ReadFile(state.At(stateOf(root)).LogPath())
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

// shellMeans are the characters by which a command line can do more than run one
// program. The settings of a folder can be anybody's.
const shellMeans = "$`;|&<>(){}*?!#\n\r"

// errNoAnswer tells that the hook had all the time there is.
var errNoAnswer = fmt.Errorf("no answer within %s", proofLimit)

// run runs an entry's command line as the client does, but never through a shell:
// the shell form by its words.
func run(ctx context.Context, e settings.Entry, env []string, payload, root string) (stdout, stderr string, code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, proofLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.Command, e.Args...)
	if e.Shell {
		line := words(e.Command)
		if rest, ok := strings.CutPrefix(line[0], "~/"); ok {
			home, _ := os.UserHomeDir() // without one the program is not found
			line[0] = filepath.Join(home, rest)
		}
		cmd = exec.CommandContext(ctx, line[0], line[1:]...)
	}
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

// unpack writes the recorded session below root and returns its events by name.
func unpack(root string) (map[string]string, error) {
	quoted, err := json.Marshal(filepath.ToSlash(root))
	if err != nil {
		return nil, err
	}
	here := strings.NewReplacer("@/", strings.Trim(string(quoted), `"`)+"/")
	agents := filepath.Join(root, "session", "subagents")
	if err := os.MkdirAll(agents, 0o700); err != nil {
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
		if err := os.WriteFile(to, []byte(here.Replace(string(data))), 0o600); err != nil {
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
