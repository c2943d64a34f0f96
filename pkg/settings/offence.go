package settings

import (
	"fmt"
	"slices"
)

// An Offence is a place at which the client takes offence, and then reads nothing of the
// file: no hook of it runs, also not those that are as they should be
// (docs/client.md: settings that are refused).
type Offence struct {
	// ShapeError says where, what and how it is mended.
	ShapeError
	// Until is the last client that was seen to mind and Since the first, "" where there
	// is no such one.
	Since, Until string
}

// Who are the clients that mind, for people.
func (o Offence) Who() string {
	switch {
	case o.Until != "":
		return "each client up to " + o.Until
	case o.Since != "":
		return "each client since " + o.Since
	}
	return "each client"
}

// Always tells that every client minds that was tried.
func (o Offence) Always() bool { return o.Since == "" && o.Until == "" }

// Minds tells whether a client of a version does, as far as that was tried; older
// compares two versions.
func (o Offence) Minds(version string, older func(a, b string) bool) bool {
	return (o.Until == "" || !older(o.Until, version)) && !older(version, o.Since)
}

// lenient is the last client that was tried and minds a single entry of any event, and
// strict the first that minds an event of [guarded] which is no list.
const lenient, strict = "2.1.245", "2.1.300"

// guarded are the events by which a person forbids things: since strict an entry of any
// other is left out alone.
var guarded = []string{"PreToolUse", "PermissionRequest"}

// kinds are those of the keys beside the hooks that were tried with another.
var kinds = []struct {
	key   string
	kind  byte
	empty string
}{
	{keyEnv, '{', "{}"}, {"permissions", '{', "{}"}, {keyStatusLine, '{', "{}"}, {"enabledPlugins", '{', "{}"},
	{"model", '"', `""`}, {"outputStyle", '"', `""`}, {"cleanupPeriodDays", '0', "30"}, {keyDisableAllHooks, 't', "false"},
}

// Offences are what keeps clients from reading a settings file, in its order but for the
// hooks, which come last. Of what is no JSON [Look] tells.
func Offences(src []byte) []Offence {
	_, body := splitBOM(src)
	if isBlank(body) {
		return nil
	}
	root, err := parse(body)
	if err != nil || root.kind != '{' {
		return nil
	}
	o := offences{body: body}
	for _, k := range kinds {
		o.want(root, k.key, k.key, k.kind, false, Offence{ShapeError: ShapeError{Mend: "make it " + k.empty + " or take the key out"}})
	}
	if permissions := root.last("permissions"); permissions != nil && permissions.kind == '{' {
		for _, key := range []string{"allow", "ask", "deny"} {
			o.want(permissions, key, "permissions."+key, '[', false, Offence{ShapeError: ShapeError{Mend: "make it [] or take the key out"}})
		}
	}
	if hooks := root.last(keyHooks); hooks != nil && hooks.kind == '{' {
		for i, event := range hooks.items {
			if hooks.lastIndex(event.key) == i {
				o.event(event.val, keyHooks+step(event.key), slices.Contains(guarded, event.key))
			}
		}
	}
	return o.all
}

type offences struct {
	body []byte
	all  []Offence
}

func (o *offences) add(n *node, path, problem string, as Offence) {
	as.Line, as.Column = position(o.body, n.start)
	as.Path, as.Problem = path, problem
	o.all = append(o.all, as)
}

// want looks at a member that must be of a kind, where it is there or must be.
func (o *offences) want(in *node, key, path string, kind byte, must bool, as Offence) *node {
	val := in.last(key)
	switch {
	case val == nil && must:
		o.add(in, path, "is missing", as)
	case val == nil:
	case val.kind == kind || kind == 't' && val.kind == 'f':
		return val
	default:
		o.add(val, path, "is "+val.kindName()+", not "+(&node{kind: kind}).kindName(), as)
	}
	return nil
}

// event looks at the groups of an event. One that is null is none.
func (o *offences) event(list *node, path string, guarded bool) {
	if list.kind != '[' {
		if list.kind != 'n' && guarded {
			o.add(list, path, "is "+list.kindName()+", not an array", Offence{ShapeError: ShapeError{Mend: "make it [] or take the key out"}, Since: strict})
		}
		return
	}
	for i, group := range list.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		as := Offence{ShapeError: ShapeError{Mend: "mend it or take it out"}}
		if !guarded {
			as.Until = lenient
		}
		if group.val.kind != '{' {
			o.add(group.val, at, "is "+group.val.kindName()+", not an object", as)
			continue
		}
		o.want(group.val, keyMatcher, at+"."+keyMatcher, '"', false, as)
		if entries := o.want(group.val, keyHooks, at+"."+keyHooks, '[', true, as); entries != nil {
			for j, entry := range entries.items {
				o.entry(entry.val, fmt.Sprintf("%s.%s[%d]", at, keyHooks, j), as)
			}
		}
	}
}

func (o *offences) entry(n *node, at string, as Offence) {
	if n.kind != '{' {
		o.add(n, at, "is "+n.kindName()+", not an object", as)
		return
	}
	kind := o.want(n, keyType, at+"."+keyType, '"', true, as)
	if kind != nil && str(o.body, kind) == keyCommand {
		o.want(n, keyCommand, at+"."+keyCommand, '"', true, as)
		o.want(n, keyArgs, at+"."+keyArgs, '[', false, as)
	}
	o.want(n, keyAsync, at+"."+keyAsync, 't', false, as)
	o.want(n, keyAsyncRewake, at+"."+keyAsyncRewake, 't', false, as)
	if timeout := o.want(n, keyTimeout, at+"."+keyTimeout, '0', false, as); timeout != nil {
		if text := string(o.body[timeout.start:timeout.end]); text == "0" || text[0] == '-' {
			o.add(timeout, at+"."+keyTimeout, "is "+text+", not more than 0", as)
		}
	}
}
