// Package settings edits the settings file of Claude Code, which belongs to the
// user: it adds this project's hook entries to the bytes of such a file and
// takes them out again.
//
// In go the bytes of a file and the wanted entries; out come the same bytes
// with only our entries added, replaced or removed. Every other byte stays as
// it was: order of keys, unknown keys, indentation, line ends, a byte order
// mark, other tools' hooks on the same events. The edits are splices at the
// offsets of a scanner, never a re-encoding. What cannot be edited safely is
// refused with an error that names line and column, or the JSON path.
//
// [Merge], [Remove], [Find], [Check] and [Look] are pure. [Install] and [Uninstall]
// put them on a file: under a lock, atomically, with a backup, through links.
//
// The package does not know which commands are ours, what the entries mean or
// whether the client likes them: the caller says so.
package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Names of the settings format (docs/client.md: files).
const (
	keyHooks                 = "hooks"
	keyMatcher               = "matcher"
	keyType                  = "type"
	keyCommand               = "command"
	keyArgs                  = "args"
	keyTimeout               = "timeout"
	keyAsync                 = "async"
	keyAsyncRewake           = "asyncRewake"
	keyEnv                   = "env"
	keyDisableAllHooks       = "disableAllHooks"
	keyAllowManagedHooksOnly = "allowManagedHooksOnly"
	typeCommand              = "command"
)

// Entry is one command hook of a settings file together with the event and the
// matcher it stands under: in
//
//	"hooks": {"<Event>": [{"matcher": "<Matcher>", "hooks": [{"type": "command",
//	  "command": "<Command>", "args": ["<Args>", …], "timeout": <Timeout>}]}]}
//
// (docs/client.md: the hook contract).
type Entry struct {
	// Event is the hook event, for example SubagentStop. Merge refuses "".
	Event string
	// Matcher narrows the event. "" matches everything and is written as no
	// matcher at all, since some events know none.
	Matcher string
	// Command is the program (exec form) or the whole command line (shell
	// form). Merge refuses "".
	Command string
	// Args are the program's arguments. Merge always writes them, also when
	// there are none, because their presence is what selects the exec form,
	// which needs no shell (docs/client.md: the hook contract).
	Args []string
	// Shell says that the entry has no args and goes through a shell. Find
	// sets it; Merge refuses it.
	Shell bool
	// Timeout is in seconds; a fraction in the file is rounded up. 0 is none
	// given: the client then takes its own default of 600.
	Timeout int
	// Async hooks run beside the event and cannot block.
	Async bool
	// AsyncRewake hooks run beside the event and wake the main session when
	// they exit with 2.
	AsyncRewake bool
}

// Ours reports whether a command hook belongs to this project. args is nil for
// the shell form and when the file's args are no list of strings. A nil Ours
// claims nothing.
type Ours func(command string, args []string) bool

// Record is what has to be remembered of a Merge to undo it to the byte. It is
// made to be stored as JSON. It holds the whole file as it was, so it needs the
// same protection as the file.
type Record struct {
	// Original is the file without our entries: nil when there was no file,
	// empty when there was an empty one.
	Original []byte `json:"original"`
	// Derived says that no file ever held Original: there were entries of ours in
	// it, which somebody had written by hand, or it was edited between two merges.
	Derived bool `json:"derived,omitempty"`
	// After is the SHA-256, in hex, of the file as Merge left it. "" matches no
	// file.
	After string `json:"after"`
	// Line is what to remember of the status line; nil where ours was not added.
	Line *lineRecord `json:"line,omitempty"`
}

// A ShapeError says that a valid JSON file has something in a place where this
// package expects something else and therefore does not touch it.
type ShapeError struct {
	// Line and Column count from 1; Column counts characters.
	Line, Column int
	// Path is the place, for example hooks.SubagentStop; "" is the whole document.
	Path string
	// Problem is what is wrong there, Mend what to do about it.
	Problem, Mend string
}

func (e *ShapeError) Error() string {
	what := e.Path
	if what == "" {
		what = "the document"
	}
	return fmt.Sprintf("line %d, column %d: %s %s; %s", e.Line, e.Column, what, e.Problem, e.Mend)
}

// Merge returns src with exactly the wanted entries of ours in it. An entry
// that is there already stays, one that differs (an older version) is replaced
// in its place, one that is missing is appended to its event as a group of its
// own, one that is no longer wanted leaves as in [Remove]. Merging the same
// again returns src unchanged.
//
// src nil is a missing file and src without any value an empty one: both become
// a document with the entries alone. prev is the record of the merge before, or
// nil; with it the new record still leads back to the file before the first.
//
// The errors are a [*SyntaxError], a [*ShapeError] (the document, "hooks" or a
// wanted event is of another type, or a key on the way stands twice), or one
// about want itself: an incomplete entry, or one that ours does not recognise
// and that would therefore never leave again.
func Merge(src []byte, want []Entry, ours Ours, prev *Record) ([]byte, Record, error) {
	if err := checkWant(want, ours); err != nil {
		return nil, Record{}, err
	}
	original, err := Remove(src, ours, prev)
	if err != nil {
		return nil, Record{}, err
	}
	derived := !bytes.Equal(original, src)
	if prev.left(src) {
		derived = prev.Derived
	}
	bom, body := splitBOM(src)
	if isBlank(body) {
		if len(want) == 0 {
			return src, Record{Original: original, Derived: derived, After: sum(src)}, nil
		}
		body = []byte("{}\n")
	}
	root, err := parse(body)
	if err != nil {
		return nil, Record{}, err
	}
	if len(want) > 0 {
		if err := checkShape(body, root, want); err != nil {
			return nil, Record{}, err
		}
	}

	orig := originalOf(prev)
	wanted := make(map[string]bool)
	for _, e := range want {
		if !wanted[e.Event] {
			wanted[e.Event] = true
			body = mergeEvent(body, e.Event, want, ours, orig)
		}
	}
	body = removeSlots(body, ours, orig, func(s slot, _ int) bool { return !wanted[s.event] })

	out := join(bom, body)
	if bytes.Equal(out, src) {
		out = src
	}
	return out, Record{Original: original, Derived: derived, After: sum(out)}, nil
}

// left tells whether a file is, to the byte, what the merge of the record left.
func (r *Record) left(src []byte) bool { return r != nil && r.After != "" && r.After == sum(src) }

// Remove returns src without our entries. If src is, to the byte, what the
// merge of prev left, it is prev.Original: nil when there was no file.
//
// Otherwise only our entries leave, with the group around one that is left
// empty and holds nothing of its own. An event and "hooks" that become empty by
// that leave too, unless prev says that they were there before; prev also gives
// back what stood inside an empty one. Without prev that last knowledge is
// missing: emptied containers always leave. Nothing of ours in src: src itself.
//
// The error is a [*SyntaxError]. A document of another shape has nothing of
// ours in it and comes back as it is.
func Remove(src []byte, ours Ours, prev *Record) ([]byte, error) {
	if prev.left(src) {
		return prev.Original, nil
	}
	bom, body := splitBOM(src)
	if isBlank(body) {
		return src, nil
	}
	if _, err := parse(body); err != nil {
		return nil, err
	}
	orig := originalOf(prev)
	left := removeSlots(body, ours, orig, func(slot, int) bool { return true })
	if bytes.Equal(left, body) {
		return src, nil
	}
	if orig != nil && orig.root == nil {
		// There was no document before: an empty one is left over from ours.
		if root := mustParse(left); root.kind == '{' && len(root.items) == 0 {
			return prev.Original, nil
		}
	}
	return join(bom, left), nil
}

// Found is a command hook in a settings file.
type Found struct {
	Entry
	// Path is where it stands, for example hooks.SubagentStop[0].hooks[1].
	Path string
}

// Find lists the command hooks of src that ours claims, in the order of the
// file; all of them if ours is nil. Hooks of other types, and whatever is not
// of the shape of a hook, are passed over. The error is a [*SyntaxError].
func Find(src []byte, ours Ours) ([]Found, error) {
	_, body := splitBOM(src)
	if isBlank(body) {
		return nil, nil
	}
	root, err := parse(body)
	if err != nil {
		return nil, err
	}
	if ours == nil {
		ours = func(string, []string) bool { return true }
	}
	var all []Found
	for _, s := range slots(body, root, ours) {
		all = append(all, Found{Entry: s.entry, Path: s.path()})
	}
	return all, nil
}

// Conditions are what else a settings file says that bears on whether hooks run.
type Conditions struct {
	// DisableAllHooks and AllowManagedHooksOnly are the switches of that name;
	// nil where the file does not say, or says something that is no boolean.
	DisableAllHooks       *bool
	AllowManagedHooksOnly *bool
	// Env are the environment variables that the file sets; numbers and
	// booleans are given as their JSON text. nil is none.
	Env map[string]string
}

// Look reads the switches of a settings file (docs/client.md: files). Of a
// key that stands twice the last counts, as for the client. The error is a
// [*SyntaxError].
func Look(src []byte) (Conditions, error) {
	var v Conditions
	_, body := splitBOM(src)
	if isBlank(body) {
		return v, nil
	}
	root, err := parse(body)
	if err != nil {
		return v, err
	}
	v.DisableAllHooks = boolAt(root, keyDisableAllHooks)
	v.AllowManagedHooksOnly = boolAt(root, keyAllowManagedHooksOnly)
	if env := root.last(keyEnv); env != nil && env.kind == '{' {
		for _, it := range env.items {
			var text string
			switch it.val.kind {
			case '"':
				text = str(body, it.val)
			case '0', 't', 'f':
				text = string(body[it.val.start:it.val.end])
			default:
				continue
			}
			if v.Env == nil {
				v.Env = make(map[string]string)
			}
			v.Env[it.key] = text
		}
	}
	return v, nil
}

func boolAt(root *node, key string) *bool {
	n := root.last(key)
	if n == nil || (n.kind != 't' && n.kind != 'f') {
		return nil
	}
	b := n.kind == 't'
	return &b
}

func checkWant(want []Entry, ours Ours) error {
	for i, e := range want {
		problem := ""
		switch {
		case e.Event == "":
			problem = "has no event"
		case e.Command == "":
			problem = "has no command"
		case e.Shell:
			problem = "is in shell form"
		case e.Timeout < 0:
			problem = "has a negative timeout"
		case ours == nil || !ours(e.Command, e.Args):
			problem = "would not be recognised as ours"
		}
		for _, s := range append([]string{e.Event, e.Matcher, e.Command}, e.Args...) {
			if !utf8.ValidString(s) {
				problem = fmt.Sprintf("holds %q, which is not UTF-8 and cannot stand in JSON", s)
			}
		}
		if problem != "" {
			return fmt.Errorf("wanted entry %d (%s) %s", i, e.Event, problem)
		}
	}
	return nil
}

// Check tells what keeps entries for events out of a settings file, by the rules of
// [Merge]: a [*SyntaxError], a [*ShapeError] or nil. The client takes offence at the
// same.
func Check(src []byte, events ...string) error {
	_, body := splitBOM(src)
	if isBlank(body) {
		return nil
	}
	root, err := parse(body)
	if err != nil {
		return err
	}
	var want []Entry
	for _, name := range events {
		want = append(want, Entry{Event: name})
	}
	return checkShape(body, root, want)
}

// checkShape refuses what Merge could only guess about.
func checkShape(body []byte, root *node, want []Entry) error {
	refuse := func(at int, path, problem, mend string) error {
		line, column := position(body, at)
		return &ShapeError{line, column, path, problem, mend}
	}
	if root.kind != '{' {
		return refuse(root.start, "", "is "+root.kindName()+", not an object", "settings are an object: {}")
	}
	// of is the value of a key that must stand once and be of one kind.
	of := func(in *node, key, path string, kind byte, empty string) (*node, error) {
		val := in.last(key)
		switch {
		case val == nil:
		case in.count(key) > 1:
			return nil, refuse(in.items[in.lastIndex(key)].start, path, "stands more than once", "the client takes the last one: join them")
		case val.kind != kind:
			return nil, refuse(val.start, path, "is "+val.kindName()+", not "+(&node{kind: kind}).kindName(), "make it "+empty+" or take the key out")
		}
		return val, nil
	}
	hooks, err := of(root, keyHooks, keyHooks, '{', "{}")
	if hooks == nil || err != nil {
		return err
	}
	for _, e := range want {
		if _, err := of(hooks, e.Event, keyHooks+step(e.Event), '[', "[]"); err != nil {
			return err
		}
	}
	return nil
}

// original is the parsed Record.Original.
type original struct {
	body []byte
	root *node // nil when there was no value in it
}

// originalOf returns nil when there is nothing usable to go by.
func originalOf(prev *Record) *original {
	if prev == nil {
		return nil
	}
	_, body := splitBOM(prev.Original)
	if isBlank(body) {
		return &original{}
	}
	root, err := parse(body)
	if err != nil {
		return nil
	}
	return &original{body, root}
}

// container finds the document ("", ""), "hooks" or an event in the original.
func (o *original) container(hooks, event string) *node {
	if o == nil || o.root == nil {
		return nil
	}
	n := o.root
	for _, key := range []string{hooks, event} {
		if key == "" {
			continue
		}
		if n.kind != '{' {
			return nil
		}
		if n = n.last(key); n == nil {
			return nil
		}
	}
	if n.kind != '{' && n.kind != '[' {
		return nil
	}
	return n
}

// inner is what stood between the brackets of an empty container.
func (o *original) inner(n *node) string {
	if n == nil || len(n.items) > 0 {
		return ""
	}
	return string(o.body[n.start+1 : n.end-1])
}

// slot is one command hook of ours in a document.
type slot struct {
	entry Entry
	event string
	// The chain of containers and the index of the item in each that leads to
	// the hook: document, hooks, event, group, the group's hooks.
	chain [5]*node
	index [5]int
}

func (s slot) group() *node { return s.chain[2].items[s.index[2]].val }
func (s slot) hook() *node  { return s.chain[4].items[s.index[4]].val }

func (s slot) path() string {
	return fmt.Sprintf("%s%s[%d].%s[%d]", keyHooks, step(s.event), s.index[2], keyHooks, s.index[4])
}

// slots lists our hooks in the order of the file. It looks into every key of a
// name, also where one stands twice.
func slots(body []byte, root *node, ours Ours) []slot {
	var all []slot
	if ours == nil || root.kind != '{' {
		return nil
	}
	for hi, hooks := range root.items {
		if hooks.key != keyHooks || hooks.val.kind != '{' {
			continue
		}
		for ei, event := range hooks.val.items {
			if event.val.kind != '[' {
				continue
			}
			for gi, group := range event.val.items {
				if group.val.kind != '{' {
					continue
				}
				for li, list := range group.val.items {
					if list.key != keyHooks || list.val.kind != '[' {
						continue
					}
					for ki, hook := range list.val.items {
						e, ok := entry(body, hook.val)
						if !ok || !ours(e.Command, e.Args) {
							continue
						}
						e.Event = event.key
						if m := group.val.last(keyMatcher); m != nil && m.kind == '"' {
							e.Matcher = str(body, m)
						}
						all = append(all, slot{
							entry: e,
							event: event.key,
							chain: [5]*node{root, hooks.val, event.val, group.val, list.val},
							index: [5]int{hi, ei, gi, li, ki},
						})
					}
				}
			}
		}
	}
	return all
}

// entry reads a hook object; false if it is no command hook.
func entry(body []byte, hook *node) (Entry, bool) {
	var e Entry
	if hook.kind != '{' {
		return e, false
	}
	if t := hook.last(keyType); t != nil && (t.kind != '"' || str(body, t) != typeCommand) {
		return e, false
	}
	command := hook.last(keyCommand)
	if command == nil || command.kind != '"' {
		return e, false
	}
	e.Command = str(body, command)
	args := hook.last(keyArgs)
	e.Shell = args == nil
	if args != nil && args.kind == '[' {
		e.Args = make([]string, 0, len(args.items))
		for _, it := range args.items {
			if it.val.kind != '"' {
				e.Args = nil
				break
			}
			e.Args = append(e.Args, str(body, it.val))
		}
	}
	if t := hook.last(keyTimeout); t != nil && t.kind == '0' {
		if f, err := strconv.ParseFloat(string(body[t.start:t.end]), 64); err == nil && f > 0 {
			e.Timeout = int(min(math.Ceil(f), math.MaxInt32))
		}
	}
	b := boolAt(hook, keyAsync)
	e.Async = b != nil && *b
	b = boolAt(hook, keyAsyncRewake)
	e.AsyncRewake = b != nil && *b
	return e, true
}

// mergeEvent brings the wanted entries of one event into body. The shape has
// been checked.
func mergeEvent(body []byte, event string, all []Entry, ours Ours, orig *original) []byte {
	var want []Entry
	for _, e := range all {
		if e.Event == event {
			want = append(want, e)
		}
	}
	root := mustParse(body)
	var have []slot
	for _, s := range slots(body, root, ours) {
		if s.event == event {
			have = append(have, s)
		}
	}

	// Who stays for whom: the same, then one under the same matcher, then one
	// whose whole group is ours.
	taken := make([]bool, len(have))
	served := make([]int, len(want))
	for i := range served {
		served[i] = -1
	}
	pair := func(fits func(s slot, e Entry) bool) {
		for w, e := range want {
			for h, s := range have {
				if served[w] < 0 && !taken[h] && fits(s, e) {
					served[w], taken[h] = h, true
				}
			}
		}
	}
	same := func(s slot, e Entry) bool {
		return s.entry.Matcher == e.Matcher && sameJSON(body[s.hook().start:s.hook().end], renderHook(e).inline(plain))
	}
	pair(same)
	pair(func(s slot, e Entry) bool { return s.entry.Matcher == e.Matcher })
	pair(func(s slot, _ Entry) bool { return whollyOurs(s) })

	st := styleOf(body, root)
	type splice struct {
		start, end int
		text       string
	}
	var splices []splice
	for w, h := range served {
		if h < 0 || same(have[h], want[w]) {
			continue
		}
		s, e := have[h], want[w]
		target, value := s.hook(), renderHook(e)
		if s.entry.Matcher != e.Matcher {
			target, value = s.group(), renderGroup(e)
		}
		splices = append(splices, splice{target.start, target.end, st.at(body, target, value)})
	}
	sort.Slice(splices, func(i, j int) bool { return splices[i].start > splices[j].start })
	for _, p := range splices {
		body = replace(body, p.start, p.end, p.text)
	}

	for w, e := range want {
		if served[w] >= 0 {
			continue
		}
		root := mustParse(body)
		hooks := root.last(keyHooks)
		if hooks == nil {
			body = appendItem(body, root, root, member(keyHooks, object{}))
			root = mustParse(body)
			hooks = root.last(keyHooks)
		}
		if hooks.last(event) == nil {
			body = appendItem(body, root, hooks, member(event, array{}))
			root = mustParse(body)
			hooks = root.last(keyHooks)
		}
		body = appendItem(body, root, hooks.last(event), item{val: renderGroup(e)})
	}

	// The appended ones stand behind the ones that were there, so the numbers
	// still hold.
	return removeSlots(body, ours, orig, func(s slot, n int) bool {
		return s.event == event && n < len(taken) && !taken[n]
	})
}

// whollyOurs reports whether the group around a hook is as Merge writes one.
func whollyOurs(s slot) bool {
	if len(s.chain[4].items) != 1 {
		return false
	}
	seen := make(map[string]bool)
	for _, it := range s.group().items {
		if (it.key != keyMatcher && it.key != keyHooks) || seen[it.key] {
			return false
		}
		seen[it.key] = true
	}
	return true
}

// removeSlots takes out the hooks of ours that drop names; n counts those of
// the same event.
func removeSlots(body []byte, ours Ours, orig *original, drop func(s slot, n int) bool) []byte {
	all := slots(body, mustParse(body), ours)
	number := make(map[string]int)
	var gone []int
	for i, s := range all {
		if drop(s, number[s.event]) {
			gone = append(gone, i)
		}
		number[s.event]++
	}
	// From the last, so that the numbers of those before it stay.
	for i := len(gone) - 1; i >= 0; i-- {
		root := mustParse(body)
		body = removeSlot(body, slots(body, root, ours)[gone[i]], orig)
	}
	return body
}

// removeSlot takes out one hook and, from inside out, each container that holds
// nothing else and is not the user's.
func removeSlot(body []byte, s slot, orig *original) []byte {
	level := 4
	if whollyOurs(s) {
		level = 2
		if len(s.chain[2].items) == 1 && orig.container(keyHooks, s.event) == nil {
			level = 1
			if len(s.chain[1].items) == 1 && orig.container(keyHooks, "") == nil {
				level = 0
			}
		}
	}
	inner := ""
	switch level {
	case 0:
		inner = orig.inner(orig.container("", ""))
	case 1:
		inner = orig.inner(orig.container(keyHooks, ""))
	case 2:
		inner = orig.inner(orig.container(keyHooks, s.event))
	}
	return removeItem(body, s.chain[level], s.index[level], inner)
}

// removeItem is the inverse of appendItem; inner is what is left inside a
// container that becomes empty.
func removeItem(body []byte, c *node, i int, inner string) []byte {
	switch {
	case len(c.items) == 1:
		return replace(body, c.start+1, c.end-1, inner)
	case i == 0:
		return replace(body, c.items[0].start, c.items[1].start, "")
	default:
		return replace(body, c.items[i-1].val.end, c.items[i].val.end, "")
	}
}

func sameJSON(a []byte, b string) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

func replace(body []byte, start, end int, text string) []byte {
	out := make([]byte, 0, len(body)-(end-start)+len(text))
	out = append(out, body[:start]...)
	out = append(out, text...)
	return append(out, body[end:]...)
}

func join(bom, body []byte) []byte {
	return append(append(make([]byte, 0, len(bom)+len(body)), bom...), body...)
}

// step is one object key in a JSON path.
func step(key string) string {
	if key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return "." + key
	}
	return "[" + strconv.Quote(key) + "]"
}

// errUTF16 is found where a SyntaxError's problem is the encoding.
var errUTF16 = errors.New("the file is UTF-16; save it as UTF-8")
