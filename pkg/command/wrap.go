package command

import "strings"

// special judges the programs whose arguments are more than options: handle is
// the name of the way, as the table has it.
func (j *judge) special(handle string, c *call) verdict {
	switch handle {
	case "shell":
		return j.shell(c)
	case "cmd", "power":
		return j.windows(c)
	case "eval":
		return j.eval(c)
	case "ssh":
		return j.ssh(c)
	case "timeout":
		return j.timeout(c)
	case "find":
		return j.findExec(c)
	case "together":
		return j.together(c)
	case "sleep":
		return sleep(c)
	case "wait":
		return j.wait(c)
	case "kill":
		j.jobs = nil // what the text started it may end
		return c.ends()
	case "sed", "code":
		return pieceOfCode(handle, c)
	case "npm":
		return j.npm(c)
	case "tasks":
		return tasks(c)
	case "scripts":
		return j.scripts(c)
	case "nx":
		return nx(c)
	case "python":
		return j.python(c)
	case "node":
		return j.node(c)
	case "file":
		return j.file(c)
	case "go":
		return j.goRun(c)
	case "run":
		return j.container(c)
	case "up":
		return up(c)
	case "cargo", "socat", "inotifywait", "sbt", "logs", "interval":
		return byValue(handle, c)
	}
	return c.unclear()
}

// wrapped judges what a wrapper runs.
func (j *judge) wrapped(c *call) verdict {
	if len(c.command) == 0 {
		if c.line.bare != "" {
			return c.say(c.line.bare)
		}
		return c.ends()
	}
	v := j.run(c.command).within(c.path...)
	if c.line.filter {
		v.role = filter
	}
	return v
}

// shell judges a shell with a command, a script, or nothing to do.
func (j *judge) shell(c *call) verdict {
	if len(c.args) == 0 {
		return c.unclear()
	}
	if c.has("-c") {
		return j.text(c.args[0], false).within(c.with("-c")...)
	}
	if c.has("-n") {
		return c.ends("-n")
	}
	return j.stranger(append([]string{"./" + c.args[0]}, c.args[1:]...)).within(c.path...)
}

// windows judges the shells of that system as far as their text reads like one of
// ours: folders are told apart by other strokes.
func (j *judge) windows(c *call) verdict {
	for i, w := range c.words {
		if list("/c,//c,-command,-c").has(strings.ToLower(w)) {
			text := strings.Join(c.words[i+1:], " ")
			return j.text(strings.ReplaceAll(text, `\`, "/"), false).within(c.path...)
		}
	}
	return c.unclear()
}

// eval judges text that becomes a command. What is not known of it may be anything.
func (j *judge) eval(c *call) verdict {
	text := strings.Join(c.args, " ")
	if !known(text) {
		return c.unclear()
	}
	return j.text(text, false).within(c.path...)
}

// ssh judges a command on another machine, or the tunnel without one.
func (j *judge) ssh(c *call) verdict {
	if len(c.args) > 1 {
		return j.text(strings.Join(c.args[1:], " "), false).within(c.path...)
	}
	if c.has("-N") {
		return c.never("-N")
	}
	return c.unclear()
}

// timeout ends what it runs, whatever that is.
func (j *judge) timeout(c *call) verdict {
	if len(c.args) > 1 && list("0,0s,infinity").has(c.args[0]) {
		return j.run(c.args[1:]).within(c.path...)
	}
	return c.ends()
}

// findExec judges what find runs on each file.
func (j *judge) findExec(c *call) verdict {
	v := c.ends()
	for i, w := range c.words {
		if !list("-exec,-execdir,-ok").has(w) {
			continue
		}
		n := i + 1
		for n < len(c.words) && c.words[n] != ";" && c.words[n] != "+" {
			n++
		}
		if n > i+1 {
			v = worse(v, j.run(c.words[i+1:n]).within(c.path...))
		}
	}
	return v
}

// together judges commands that are run side by side, each as one word: all are
// waited for, unless the first to end takes the others with it.
func (j *judge) together(c *call) verdict {
	all := c.ends()
	some := Never
	for _, a := range c.args {
		var v verdict
		kind, name, short := strings.Cut(a, ":")
		switch {
		case short && list("npm,pnpm,yarn,bun,node,deno").has(kind) && !strings.Contains(a, " "):
			v = script(name, nil)
		default:
			v = j.text(a, false)
		}
		all = worse(all, v.within(c.path...))
		some = min(some, v.answer)
	}
	if o := c.given("-k,--kill-others,--kill-signal"); o != "" && all.answer == Never && some == Ends {
		return c.unclear(o)
	}
	return all
}

func sleep(c *call) verdict {
	for _, a := range c.args {
		if list("infinity,inf").has(a) {
			return c.never("infinity")
		}
	}
	return c.ends()
}

// wait judges what was sent to the background before.
func (j *judge) wait(c *call) verdict {
	v := c.ends()
	for _, job := range j.jobs {
		v = worse(v, job.within(c.path...))
	}
	if len(c.args) > 0 && v.answer == Never && len(j.jobs) > 1 || c.has("-n") && v.answer == Never {
		return c.unclear() // it is one of them that is waited for
	}
	return v
}

// pieceOfCode judges programs that are given a text of their own language to do to
// what they read.
func pieceOfCode(handle string, c *call) verdict {
	v := verdict{answer: Ends, words: c.path, role: filter}
	code := c.args
	for _, o := range c.opts {
		if o.name == "-e" || o.name == "--expression" {
			code = append(code[:len(code):len(code)], o.value)
		}
	}
	for _, text := range code {
		if handle == "sed" && quits(text) {
			v.role = cutter
		}
		for _, word := range []string{"exit", "last", "quit", "halt", "limit(", "first("} {
			if handle == "code" && strings.Contains(text, word) {
				v.role = cutter
			}
		}
	}
	return v
}
