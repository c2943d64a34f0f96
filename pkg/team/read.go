package team

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"stopgate/pkg/host"
)

// Bounds on what is read: leftovers of years, or a broken writer, must not cost
// more than a moment.
const (
	maxFile    = 4 << 20
	maxTeams   = 1000
	maxInboxes = 500
	maxTasks   = 2000
	maxItems   = 20000 // members or messages of one file

	maxProjects = 5000
)

// A Problem is a file or folder that is there and could not be read.
type Problem struct {
	Path string
	Err  error
}

func (p Problem) Error() string {
	var pe *fs.PathError
	if errors.As(p.Err, &pe) {
		return fmt.Sprintf("%s: %v", p.Path, pe.Err)
	}
	return fmt.Sprintf("%s: %v", p.Path, p.Err)
}

// Read reads the teams under configDir ($CLAUDE_CONFIG_DIR or ~/.claude), by
// the name of their folder. What is missing is nothing; what is there and
// cannot be read is a Problem, and the rest is read all the same. A folder
// without a config.json is a team only if something else is in it. Only regular
// files are opened, none above 4 MB.
func Read(configDir string) ([]Team, []Problem) {
	r := reader{}
	var teams []Team
	root := filepath.Join(configDir, "teams")
	for _, name := range r.list(root, "", maxTeams) {
		dir := filepath.Join(root, name)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		t := Team{Dir: name, Name: name}
		known := r.file(filepath.Join(dir, "config.json"), t.config)
		r.files(filepath.Join(dir, "inboxes"), maxInboxes, t.inbox)
		r.files(filepath.Join(configDir, "tasks", name), maxTasks, t.task)
		slices.SortStableFunc(t.Tasks, func(a, b Task) int { return compareIDs(a.ID, b.ID) })
		if known || len(t.Mail) > 0 || len(t.Tasks) > 0 {
			teams = append(teams, t)
		}
	}
	return teams, r.problems
}

type reader struct{ problems []Problem }

func (r *reader) problem(path string, err error) {
	r.problems = append(r.problems, Problem{path, err})
}

// list names what stands in a folder and ends in suffix, sorted, without
// hidden files.
func (r *reader) list(dir, suffix string, limit int) []string {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.problem(dir, err)
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || !strings.HasSuffix(name, suffix) {
			continue
		}
		if len(names) == limit {
			r.problem(dir, fmt.Errorf("more than %d entries, the rest was not read", limit))
			break
		}
		names = append(names, name)
	}
	return names
}

// files reads the JSON files of a folder by name.
func (r *reader) files(dir string, limit int, parse func(name string, data []byte) error) {
	for _, name := range r.list(dir, ".json", limit) {
		r.file(filepath.Join(dir, name), func(data []byte) error {
			return parse(strings.TrimSuffix(name, ".json"), data)
		})
	}
}

// file reads one file and hands its bytes to parse; false if there is none, or
// none to go by.
func (r *reader) file(path string, parse func([]byte) error) bool {
	data, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err == nil {
		err = parse(data)
	}
	if err != nil {
		r.problem(path, err)
	}
	return err == nil
}

// document checks the bytes of one JSON file.
func document(data []byte) (gjson.Result, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return gjson.Result{}, errors.New("is empty")
	}
	if !json.Valid(data) { // unlike gjson's own check, it bounds the depth
		return gjson.Result{}, errors.New("is no JSON")
	}
	return gjson.ParseBytes(data), nil
}

func readRegular(path string) ([]byte, error) {
	// Asked before, because to open some files has effects, and after, because
	// another file may have come in between.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no regular file")
	}
	f, _, err := host.Files{}.Open(path)
	if errors.Is(err, host.ErrNotRegular) {
		return nil, errors.New("is no regular file")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("has more than %d MB", maxFile>>20)
	}
	return data, nil
}

// config fills t from the bytes of a config.json.
func (t *Team) config(data []byte) error {
	doc, err := document(data)
	if err != nil {
		return err
	}
	if !doc.IsObject() {
		return errors.New("is no object")
	}
	if name := text(doc.Get("name")); name != "" {
		t.Name = name
	}
	t.LeadAgentID = text(doc.Get("leadAgentId"))
	t.LeadSessionID = text(doc.Get("leadSessionId"))
	t.CreatedAt = moment(doc.Get("createdAt"))
	if lead := doc.Get("leadProcess"); lead.IsObject() {
		if pid := lead.Get("pid"); pid.Type == gjson.Number && pid.Num > 0 && pid.Num <= math.MaxInt32 && pid.Num == math.Trunc(pid.Num) {
			t.LeadPID = int(pid.Num)
		}
		t.LeadPIDSpace = text(lead.Get("pidSpace"))
		t.LeadStart = scalar(lead.Get("procStart"))
	}
	each(doc.Get("members"), func(m gjson.Result) {
		member := Member{
			AgentID:   text(m.Get("agentId")),
			Name:      text(m.Get("name")),
			Color:     text(m.Get("color")),
			AgentType: text(m.Get("agentType")),
			Model:     text(m.Get("model")),
			Backend:   text(m.Get("backendType")),
			PaneID:    text(m.Get("tmuxPaneId")),
			JoinedAt:  moment(m.Get("joinedAt")),
			Cwd:       text(m.Get("cwd")),
		}
		if a := m.Get("isActive"); a.IsBool() {
			active := a.Bool()
			member.Active = &active
		}
		// The pane's field also holds words that name no pane.
		switch {
		case member.PaneID == InProcess || member.PaneID == "leader":
			if member.Backend == "" {
				member.Backend = InProcess
			}
			member.PaneID = ""
		case member.Backend == "" && strings.HasPrefix(member.PaneID, "%"):
			member.Backend = Tmux
		}
		if member.Name == "" {
			member.Name, _, _ = strings.Cut(member.AgentID, "@")
		}
		if member.Name != "" {
			t.Members = append(t.Members, member)
		}
	})
	return nil
}

// inbox fills one inbox from the bytes of its file.
func (t *Team) inbox(name string, data []byte) error {
	doc, err := document(data)
	if err != nil {
		return err
	}
	if !doc.IsArray() {
		return errors.New("is no list")
	}
	mail := []Message{}
	each(doc, func(m gjson.Result) {
		msg := Message{
			From:    text(m.Get("from")),
			Text:    text(m.Get("text")),
			Summary: text(m.Get("summary")),
			Type:    text(m.Get("type")),
			Time:    moment(m.Get("timestamp")),
			Read:    m.Get("read").Type == gjson.True,
		}
		msg.Protocol = protocol(msg.Text)
		mail = append(mail, msg)
	})
	if t.Mail == nil {
		t.Mail = make(map[string][]Message)
	}
	t.Mail[name] = mail
	return nil
}

// protocol reads the text of a message that one client sent another.
func protocol(s string) Protocol {
	if s = strings.TrimSpace(s); !strings.HasPrefix(s, "{") || !json.Valid([]byte(s)) {
		return Protocol{}
	}
	doc := gjson.Parse(s)
	p := Protocol{Type: text(doc.Get("type"))}
	if p.Type == "" {
		return Protocol{}
	}
	p.From = text(doc.Get("from"))
	p.Time = moment(doc.Get("timestamp"))
	if p.Reason = text(doc.Get("idleReason")); p.Reason == "" {
		p.Reason = text(doc.Get("reason"))
	}
	if p.RequestID = text(doc.Get("requestId")); p.RequestID == "" {
		p.RequestID = text(doc.Get("request_id"))
	}
	if p.TaskID = scalar(doc.Get("taskId")); p.TaskID == "" {
		p.TaskID = scalar(doc.Get("completedTaskId"))
	}
	return p
}

// task adds a task from the bytes of its file; name is its id where the file
// gives none.
func (t *Team) task(name string, data []byte) error {
	doc, err := document(data)
	if err != nil {
		return err
	}
	if !doc.IsObject() {
		return errors.New("is no object")
	}
	task := Task{
		ID:        scalar(doc.Get("id")),
		Subject:   text(doc.Get("subject")),
		Status:    text(doc.Get("status")),
		Owner:     text(doc.Get("owner")),
		Blocks:    scalars(doc.Get("blocks")),
		BlockedBy: scalars(doc.Get("blockedBy")),
		Internal:  doc.Get("metadata._internal").Type == gjson.True,
	}
	if task.ID == "" {
		task.ID = name
	}
	t.Tasks = append(t.Tasks, task)
	return nil
}

// compareIDs puts numbers in their order and before everything else.
func compareIDs(a, b string) int {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	switch {
	case errX == nil && errY == nil && x != y:
		return cmp.Compare(x, y)
	case errX == nil && errY != nil:
		return -1
	case errX != nil && errY == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

// each calls f for the objects in a list.
func each(list gjson.Result, f func(gjson.Result)) {
	if !list.IsArray() {
		return
	}
	n := 0
	list.ForEach(func(_, v gjson.Result) bool {
		if v.IsObject() {
			f(v)
		}
		n++
		return n < maxItems
	})
}

func text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return v.Str
}

// scalar is an id, which some write as a number.
func scalar(v gjson.Result) string {
	if v.Type == gjson.Number {
		return v.Raw
	}
	return text(v)
}

func scalars(list gjson.Result) []string {
	var all []string
	if list.IsArray() {
		list.ForEach(func(_, v gjson.Result) bool {
			if s := scalar(v); s != "" {
				all = append(all, s)
			}
			return len(all) < maxItems
		})
	}
	return all
}

// moment reads a time as the client writes it: text by RFC 3339, or a number of
// milliseconds since 1970.
func moment(v gjson.Result) time.Time {
	switch v.Type {
	case gjson.String:
		if t, err := time.Parse(time.RFC3339Nano, v.Str); err == nil {
			return t.UTC()
		}
	case gjson.Number:
		if v.Num > 0 && v.Num < 253402300800000 { // the year 10000
			return time.UnixMilli(int64(v.Num)).UTC()
		}
	}
	return time.Time{}
}
