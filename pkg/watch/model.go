package watch

import (
	"bytes"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"stopgate/pkg/status"
	"stopgate/pkg/view"
)

// page is what lies over the tree.
type page int

const (
	noPage page = iota
	outputPage
	explainPage
)

// model is the view as it is now.
type model struct {
	w             World
	st            status.Status
	rows          []row
	cursor, top   int
	width, height int
	page          page
	title         string
	lines         []string
	// from is the first line of the page that is shown, and bottom keeps to its end.
	from   int
	bottom bool
	// task is whose output is shown.
	task status.Task
	// asks is a question that waits for y, and do what is done then.
	asks string
	do   func() error
	// said is the last message, which stays for some ticks.
	said string
	stay int
}

func newModel(w World, st status.Status) *model {
	m := &model{w: w, st: st, width: 80, height: 24}
	m.rows = tree(st, w.Now())
	return m
}

// messageTicks is for how many ticks a message is shown.
const messageTicks = 5

type ticked struct{}

func tick() tea.Cmd { return tea.Tick(redraw, func(time.Time) tea.Msg { return ticked{} }) }

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return tick() }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case loaded:
		if msg.err == nil {
			m.st = msg.st
		} else {
			m.said, m.stay = msg.err.Error(), messageTicks
		}
		m.renew()
	case ticked:
		if m.stay--; m.stay <= 0 {
			m.said = ""
		}
		m.renew()
		return m, tick()
	case tea.KeyPressMsg:
		cmd := m.key(msg.String())
		m.stay = messageTicks
		return m, cmd
	}
	return m, nil
}

// renew makes the rows anew and stays on the one that was chosen.
func (m *model) renew() {
	key := ""
	if m.cursor < len(m.rows) {
		key = m.rows[m.cursor].key()
	}
	m.rows = tree(m.st, m.w.Now())
	if at, ok := find(m.rows, key); ok {
		m.cursor = at
	}
	m.cursor = max(0, min(m.cursor, len(m.rows)-1))
	if m.page == outputPage {
		m.lines = m.w.Output(m.task)
	}
}

// key does what a key stands for.
func (m *model) key(key string) tea.Cmd {
	if m.asks != "" {
		if key == "y" {
			if err := m.do(); err != nil {
				m.said = err.Error()
			}
		}
		m.asks, m.do = "", nil
		return nil
	}
	m.said = ""
	switch key {
	case "q", "ctrl+c":
		if m.page == noPage || key == "ctrl+c" {
			return tea.Quit
		}
		m.page = noPage
	case "esc", "left", "h":
		m.page = noPage
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "pgup", "ctrl+b":
		m.move(-m.height / 2)
	case "pgdown", "ctrl+f", "space":
		m.move(m.height / 2)
	case "home", "g":
		m.move(-1 << 20)
	case "end", "G":
		m.move(1 << 20)
	case "enter", "right", "l":
		m.open()
	case "e":
		m.explain()
	case "r":
		m.release()
	case "o":
		m.toggle()
	}
	return nil
}

func (m *model) move(by int) {
	if m.page == noPage {
		m.cursor = max(0, min(m.cursor+by, len(m.rows)-1))
		return
	}
	most := max(0, len(m.lines)-m.room())
	if m.bottom {
		m.from = most
	}
	m.from = max(0, min(m.from+by, most))
	m.bottom = m.page == outputPage && m.from == most
}

func (m *model) chosen() (row, bool) {
	if m.cursor >= len(m.rows) {
		return row{}, false
	}
	return m.rows[m.cursor], true
}

func (m *model) session(id string) status.Session {
	at := slices.IndexFunc(m.st.Sessions, func(s status.Session) bool { return s.ID == id })
	if at < 0 {
		return status.Session{}
	}
	return m.st.Sessions[at]
}

// open shows the output of a task.
func (m *model) open() {
	r, ok := m.chosen()
	if !ok || r.task == "" {
		m.said = "choose a task to see its output"
		return
	}
	t, ok := m.session(r.session).Task(r.task)
	if !ok {
		return
	}
	m.task, m.page, m.bottom, m.from = t, outputPage, true, 0
	m.title = "output of " + view.Clean(t.ID) + "  " + view.Clean(t.Face.Title())
	m.lines = m.w.Output(t)
	if len(m.lines) == 0 {
		m.lines = []string{"nothing was printed yet"}
	}
}

// explain shows why a stop was answered as it was.
func (m *model) explain() {
	r, ok := m.chosen()
	if !ok || r.session == "" {
		return
	}
	var out bytes.Buffer
	m.w.Explain(view.Screen{W: &out, Width: m.width, Colour: m.w.Colour, Zone: m.w.Zone}, r.session, r.agent)
	m.page, m.from, m.bottom, m.title = explainPage, 0, false, "why"
	m.lines = strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
}

// release asks whether nothing shall wait for a task any more.
func (m *model) release() {
	r, ok := m.chosen()
	if !ok || r.task == "" || r.session == "" {
		m.said = "choose a task to release"
		return
	}
	m.asks = "no stop shall wait for " + view.Clean(r.task) + " any more? (y/n)"
	m.do = func() error {
		err := m.w.Release(r.session, r.task)
		if err == nil {
			m.said = "released " + view.Clean(r.task)
		}
		return err
	}
}

// toggle asks whether to switch off, or on.
func (m *model) toggle() {
	off := !m.st.Off
	m.asks = "let every stop through, until switched on? (y/n)"
	if !off {
		m.asks = "guard the stops again? (y/n)"
	}
	m.do = func() error {
		err := m.w.Switch(off)
		if err == nil {
			m.st.Off = off
		}
		return err
	}
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.draw(), "\n"))
	v.AltScreen = true
	return v
}

// room is how many lines there are between the first and the last.
func (m *model) room() int { return max(1, m.height-2) }

// draw are the lines of the screen, each cut to its width.
func (m *model) draw() []string {
	scr := view.Screen{Width: m.width, Colour: m.w.Colour, Zone: m.w.Zone}
	now := m.w.Now()
	var lines []string
	head := "stopgate  " + scr.Clock(now, now)
	style := view.Strong
	if m.st.Off {
		head, style = head+"  switched off: every stop is let through", view.Alarm
	}
	if m.page != noPage {
		head = m.title
	}
	lines = append(lines, scr.Paint(scr.Cut(head), style))
	if m.page != noPage {
		lines = append(lines, m.drawPage(scr)...)
	} else {
		lines = append(lines, m.drawTree(scr, now)...)
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	foot, footStyle := "up down move  enter output  e explain  r release  o off/on  q quit", view.Faint
	if m.page != noPage {
		foot = "up down scroll  esc back"
	}
	switch {
	case m.asks != "":
		foot, footStyle = m.asks, view.Busy
	case m.said != "":
		foot, footStyle = view.Clean(m.said), view.Busy
	}
	lines = append(lines[:min(len(lines), max(0, m.height-1))], scr.Paint(scr.Cut(foot), footStyle))
	return lines
}

func (m *model) drawPage(scr view.Screen) []string {
	room := m.room()
	most := max(0, len(m.lines)-room)
	if m.bottom {
		m.from = most
	}
	m.from = max(0, min(m.from, most))
	var out []string
	for _, line := range m.lines[m.from:min(len(m.lines), m.from+room)] {
		if m.page == outputPage { // lines of the explanation are styled and fit
			line = scr.Cut(view.Clean(line))
		}
		out = append(out, line)
	}
	return out
}

// leastLog is how many lines of the log are shown where there is room.
const leastLog = 5

func (m *model) drawTree(scr view.Screen, now time.Time) []string {
	room := m.room()
	forLog := 0
	if room > 3*leastLog {
		forLog = max(leastLog, room-len(m.rows)-1)
		forLog = min(forLog, room/2)
	}
	forTree := room
	if forLog > 0 {
		forTree = room - forLog - 1
	}
	if m.cursor < m.top {
		m.top = m.cursor
	}
	if m.cursor >= m.top+forTree {
		m.top = m.cursor - forTree + 1
	}
	m.top = max(0, min(m.top, len(m.rows)-forTree))
	var out []string
	for i := m.top; i < min(len(m.rows), m.top+forTree); i++ {
		mark := "  "
		style := m.rows[i].style
		if i == m.cursor {
			mark = "> "
		}
		out = append(out, mark+scr.Paint(scr.CutBehind(m.rows[i].text, len(mark)), style))
	}
	if len(m.rows) == 0 {
		out = append(out, scr.Cut("  no session runs here: whatever begins appears by itself"))
	}
	if forLog == 0 {
		return out
	}
	for len(out) < forTree {
		out = append(out, "")
	}
	out = append(out, scr.Paint(scr.Cut("log "+strings.Repeat("─", max(0, m.width-4))), view.Faint))
	return append(out, m.log(scr, now, forLog)...)
}

// log are the last lines of the log.
func (m *model) log(scr view.Screen, now time.Time, n int) []string {
	entries := m.st.Log()
	entries = entries[max(0, len(entries)-n):]
	var buf bytes.Buffer
	scr.W = &buf
	faces := func(session, task string) string {
		t, _ := m.session(session).Task(task)
		return t.Face.Title()
	}
	l := view.Log{Screen: scr, Faces: faces}
	l.Print(entries, now)
	lines := strings.Split(strings.TrimRight(buf.String(), "\n"), "\n")
	if len(entries) == 0 {
		return []string{scr.Paint("nothing yet", view.Faint)}
	}
	return lines[max(0, len(lines)-n):]
}
