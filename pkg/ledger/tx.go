package ledger

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"time"

	bolt "go.etcd.io/bbolt"

	"stopgate/pkg/transcript"
)

// Buckets. The first five can be rebuilt, the others are promises.
var (
	bucketMeta     = []byte("meta")
	bucketAgents   = []byte("agents")
	bucketCursors  = []byte("transcripts")
	bucketLaunches = []byte("launches")
	bucketEnds     = []byte("ends")
	bucketCharges  = []byte("charges")
	bucketStops    = []byte("stops")
	bucketReleased = []byte("released")
	bucketHolds    = []byte("holds")
	bucketCouriers = []byte("couriers")
	bucketWatches  = []byte("watches")
	bucketWorth    = []byte("worth")

	keySession = []byte("session")
)

// Bounds on the rows of one session.
const (
	maxRecords = 2000
	maxRows    = 4000
)

// Tx is one transaction on a session's store.
type Tx struct {
	tx *bolt.Tx
	// Session is what is known of the session; changes to it are kept.
	Session Session
	now     time.Time
	err     error
}

func begin(tx *bolt.Tx, sessionID string, now, renewed time.Time) (*Tx, error) {
	t := &Tx{tx: tx, now: now}
	meta, err := tx.CreateBucketIfNotExists(bucketMeta)
	if err != nil {
		return nil, err
	}
	if v := meta.Get(keySession); v != nil {
		if err := json.Unmarshal(v, &t.Session); err != nil {
			return nil, fmt.Errorf("%w: session record: %w", ErrBroken, err)
		}
	} else {
		t.Session = Session{ID: sessionID, Begun: now, Renewed: renewed}
	}
	return t, nil
}

func (t *Tx) finish() error {
	if t.err == nil {
		bounded(&t.Session.ID, &t.Session.Cwd, &t.Session.Transcript, &t.Session.AgentType, &t.Session.LastEvent, &t.Session.Lead.Prompt)
		for i := range t.Session.Listed {
			bounded(&t.Session.Listed[i].Type)
		}
		t.Session.Listed = slices.DeleteFunc(t.Session.Listed, func(l Listed) bool { return !storable(l.ID) })
		t.Session.Listed = t.Session.Listed[:min(len(t.Session.Listed), maxRows)]
		t.put(bucketMeta, keySession, t.Session)
	}
	return t.err
}

func (t *Tx) bucket(name []byte) *bolt.Bucket {
	b := t.tx.Bucket(name)
	if b == nil && t.err == nil {
		b, t.err = t.tx.CreateBucketIfNotExists(name)
	}
	return b
}

func (t *Tx) put(bucket, key []byte, value any) {
	b := t.bucket(bucket)
	if t.err != nil {
		return
	}
	data, err := json.Marshal(value)
	if err == nil {
		err = b.Put(key, data)
	}
	if err != nil {
		t.err = fmt.Errorf("put into %s: %w", bucket, err)
	}
}

// get reads a row; a row that cannot be read counts as missing, since what was
// learned can be learned again.
func get[T any](tx *bolt.Tx, bucket []byte, key string) (value T, ok bool) {
	if !readRow(tx, bucket, key, &value) {
		var zero T
		return zero, false
	}
	return value, true
}

// readRow is [get] into a pointer: what is written for each type is little.
func readRow(tx *bolt.Tx, bucket []byte, key string, into any) bool {
	b := tx.Bucket(bucket)
	if b == nil || key == "" {
		return false
	}
	data := b.Get([]byte(key))
	return data != nil && json.Unmarshal(data, into) == nil
}

// maxKey is the longest key bbolt takes.
const maxKey = 1024

func storable(key string) bool { return key != "" && len(key) <= maxKey }

// maxField is the longest path, type or name that is kept; a longer one is none.
const maxField = 4096

func bounded(fields ...*string) {
	for _, f := range fields {
		if len(*f) > maxField {
			*f = ""
		}
	}
}

// Agent reads an agent's record; ok is false where there is none.
func (t *Tx) Agent(id string) (agent Agent, ok bool) { return get[Agent](t.tx, bucketAgents, id) }

// AgentNamed finds the agent of a name in a team ("" for any team); "" where none
// or several fit.
func (t *Tx) AgentNamed(name, team string) string {
	found := ""
	for id, a := range rows[Agent](t.tx, bucketAgents, nil) {
		if name == "" || a.Type != name && a.Name != name || team != "" && a.Team != "" && a.Team != team {
			continue
		}
		if found != "" {
			return ""
		}
		found = id
	}
	return found
}

// Teammates are the ids of the agents of which a team is known, and of those that is
// accepts: before a teammate is idle for the first time, no event names its team.
func (t *Tx) Teammates(is func(Agent) bool) []string {
	var out []string
	for id, a := range rows[Agent](t.tx, bucketAgents, nil) {
		if a.Team != "" || !a.Idle.IsZero() || is(a) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// Ends are the known ends, and deliveries of ends that are not known themselves.
func (t *Tx) Ends() map[string]End { return rows[End](t.tx, bucketEnds, nil) }

// PutAgent keeps an agent's record. One with an unusable id is left out.
func (t *Tx) PutAgent(a Agent) {
	if storable(a.ID) {
		bounded(&a.Type, &a.Name, &a.Team, &a.Color, &a.Transcript, &a.Parent)
		t.bound(bucketAgents, a.ID)
		t.put(bucketAgents, []byte(a.ID), a)
	}
}

// Touch returns the agent's record for an event of it at now, new where it is
// missing, with what the event says filled in. It ends the window in which a
// doubled stop is recognised; the caller puts it back.
func (t *Tx) Touch(id, agentType, transcriptPath string) Agent {
	a, ok := t.Agent(id)
	if !ok {
		a = Agent{ID: id, First: t.now}
	}
	a.Last = t.now
	a.LastSum = ""
	if agentType != "" {
		a.Type = agentType
	}
	if transcriptPath != "" {
		a.Transcript = transcriptPath
	}
	return a
}

// Launch reads the launch of a task.
func (t *Tx) Launch(task string) (l transcript.Launch, ok bool) {
	return get[transcript.Launch](t.tx, bucketLaunches, task)
}

// Merge keeps what was learned: of two launches of one task the better evidence,
// of two cursors of one file the further.
func (t *Tx) Merge(l Learned) {
	for _, launch := range l.Launches {
		if !storable(launch.Task) {
			continue
		}
		if have, ok := t.Launch(launch.Task); ok {
			launch = transcript.Join(have, launch)
		}
		bounded(&launch.Owner, &launch.Kind, &launch.ToolUseID, &launch.Output, &launch.File)
		t.bound(bucketLaunches, launch.Task)
		t.put(bucketLaunches, []byte(launch.Task), launch)
	}
	for _, end := range l.Ends {
		if !storable(end.Task) {
			continue
		}
		have, _ := get[End](t.tx, bucketEnds, end.Task)
		if have.At.After(end.At) {
			continue
		}
		if have.Delivered.Before(end.At) {
			// A later end of the same task is told anew.
			have.Delivered, have.DeliveredTo = time.Time{}, ""
		}
		have.End = end
		t.bound(bucketEnds, end.Task)
		t.put(bucketEnds, []byte(end.Task), have)
	}
	for _, d := range l.Deliveries {
		if !storable(d.Task) {
			continue
		}
		// The owner's transcript can tell of the delivery before the
		// coordinator's, which tells of the end, has been read so far.
		have, _ := get[End](t.tx, bucketEnds, d.Task)
		have.Task = d.Task
		if d.At.Before(have.At) || !have.Delivered.IsZero() && (have.DeliveredTo != "" || d.To == "") {
			continue
		}
		have.Delivered, have.DeliveredTo = d.At, d.To
		if d.At.IsZero() {
			have.Delivered = t.now
		}
		t.bound(bucketEnds, d.Task)
		t.put(bucketEnds, []byte(d.Task), have)
	}
	for path, step := range l.Cursors {
		if !storable(path) {
			continue
		}
		have, ok := get[transcript.Cursor](t.tx, bucketCursors, path)
		if ok && !have.Equal(step.From) && have.Inode == step.To.Inode && have.Offset >= step.To.Offset {
			continue // another hook has read further meanwhile
		}
		t.bound(bucketCursors, path)
		t.put(bucketCursors, []byte(path), step.To)
		t.look(path, step.Look)
	}
	for _, a := range l.Agents {
		if !storable(a.ID) {
			continue
		}
		have, ok := t.Agent(a.ID)
		if !ok {
			have = Agent{ID: a.ID}
		}
		fill(&have.Type, a.Type)
		fill(&have.Name, a.Name)
		fill(&have.Team, a.Team)
		fill(&have.Color, a.Color)
		fill(&have.Parent, a.Parent)
		fill(&have.Transcript, a.Transcript)
		t.PutAgent(have)
	}
}

func fill(have *string, news string) {
	if *have == "" {
		*have = news
	}
}

// Charge is what was spent on a task.
type Charge struct {
	// Blocks is how many blocks it was the reason of, Waited how long stops were
	// held for it.
	Blocks int           `json:"blocks"`
	Waited time.Duration `json:"waited,omitempty"`
	// Told marks a task whose end was handed over to its agent.
	Told bool      `json:"told,omitempty"`
	At   time.Time `json:"at"`
}

// Charged is what was spent on a task.
func (t *Tx) Charged(task string) Charge {
	c, _ := get[Charge](t.tx, bucketCharges, task)
	return c
}

// Charge spends one block on a task, and the time that a stop was held for it.
// told tells that the block hands over its end.
func (t *Tx) Charge(task string, waited time.Duration, told bool) {
	if storable(task) {
		c := t.Charged(task)
		t.bound(bucketCharges, task)
		t.put(bucketCharges, []byte(task), Charge{Blocks: c.Blocks + 1, Waited: c.Waited + max(0, waited), Told: c.Told || told, At: t.now})
	}
}

// Released tells whether a person excused a task.
func (t *Tx) Released(task string) bool {
	at, _ := get[time.Time](t.tx, bucketReleased, task)
	return !at.IsZero()
}

// Release excuses tasks.
func (t *Tx) Release(tasks ...string) {
	for _, task := range tasks {
		if storable(task) {
			t.put(bucketReleased, []byte(task), t.now)
		}
	}
	t.AddAct(Act{Deed: Released, Tasks: tasks})
}

// Worth is what was decided of a task last.
func (t *Tx) Worth(task string) (Worth, bool) { return get[Worth](t.tx, bucketWorth, task) }

// Worths are all that was decided of tasks, by task.
func (t *Tx) Worths() map[string]Worth { return rows[Worth](t.tx, bucketWorth, nil) }

// PutWorth keeps what was decided of a task. A row that says the same is left alone.
func (t *Tx) PutWorth(w Worth) {
	if storable(w.Task) {
		bounded(&w.Words)
		have, _ := t.Worth(w.Task)
		if w.At = have.At; w == have {
			return
		}
		w.At = t.now
		t.bound(bucketWorth, w.Task)
		t.put(bucketWorth, []byte(w.Task), w)
	}
}

// maxWorth bounds what one stop's row says of its tasks.
const maxWorth = 50

// maxListed bounds the tasks that one row names: a store holds many stops.
const maxListed = 200

// shorten leaves out what is too long for a row.
func shorten(ids []string) []string {
	var out []string
	for _, id := range ids {
		if storable(id) && len(out) < maxListed {
			out = append(out, id)
		}
	}
	return out
}

// AddStop records a stop and gives it its number.
func (t *Tx) AddStop(s Stop) uint64 {
	bounded(&s.AgentID, &s.Type, &s.Prompt)
	s.Worth = s.Worth[:min(len(s.Worth), maxWorth)]
	s.Own, s.Listed, s.Unowned, s.Ended = shorten(s.Own), shorten(s.Listed), shorten(s.Unowned), shorten(s.Ended)
	s.Seq = t.number()
	t.put(bucketStops, seqKey(s.Seq), s)
	return s.Seq
}

func seqKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// PutHold records that a stop is held.
func (t *Tx) PutHold(h Hold) {
	if storable(h.AgentID) {
		h.Tasks = shorten(h.Tasks)
		bounded(&h.Type)
		t.bound(bucketHolds, h.AgentID)
		t.put(bucketHolds, []byte(h.AgentID), h)
	}
}

// HoldOf reads the hold of an agent, answered or not.
func (t *Tx) HoldOf(agentID string) (Hold, bool) { return get[Hold](t.tx, bucketHolds, agentID) }

// EndHold marks a hold as answered.
func (t *Tx) EndHold(h Hold) {
	h.Over = true
	t.PutHold(h)
}

// Lost gives the holds that were not answered and whose process is gone: they were
// ended from outside. They are marked as answered, so each is given once.
func (t *Tx) Lost(lives func(Process) bool) []Hold {
	var out []Hold
	for _, h := range unanswered(t.tx) {
		if !lives(h.Process) {
			out = append(out, h)
			t.EndHold(h)
		}
	}
	sort.Slice(out, func(a, b int) bool { return out[a].Since.Before(out[b].Since) })
	return out
}

// WatchOf reads the courier that waits for an agent's tasks.
func (t *Tx) WatchOf(agentID string) (Watch, bool) {
	return get[Watch](t.tx, bucketWatches, agentID)
}

// PutWatch records that a courier waits; it takes the place of an earlier one.
func (t *Tx) PutWatch(w Watch) {
	if storable(w.AgentID) {
		w.Tasks = shorten(w.Tasks)
		t.bound(bucketWatches, w.AgentID)
		t.put(bucketWatches, []byte(w.AgentID), w)
	}
}

// DropWatch removes what is recorded of a courier that waited.
func (t *Tx) DropWatch(agentID string) { t.drop(bucketWatches, agentID) }

// drop deletes a row and counts it out.
func (t *Tx) drop(bucket []byte, key string) {
	b := t.tx.Bucket(bucket)
	if b == nil || !storable(key) || b.Get([]byte(key)) == nil {
		return
	}
	if err := b.Delete([]byte(key)); err == nil {
		err = b.SetSequence(max(b.Sequence(), 1) - 1)
		t.err = cmp.Or(t.err, err)
	}
}

// LostWatches takes out the couriers whose process is gone without a word: they were
// ended from outside.
func (t *Tx) LostWatches(lives func(Process) bool) []Watch {
	var out []Watch
	for _, w := range list[Watch](t.tx, bucketWatches) {
		if !lives(w.Process) {
			out = append(out, w)
			t.DropWatch(w.AgentID)
		}
	}
	return out
}

// Courier reads what a courier told about a task.
func (t *Tx) Courier(task string) (Courier, bool) { return get[Courier](t.tx, bucketCouriers, task) }

// PutCourier records that a courier tells about a task.
func (t *Tx) PutCourier(c Courier) {
	if storable(c.Task) {
		t.bound(bucketCouriers, c.Task)
		t.put(bucketCouriers, []byte(c.Task), c)
	}
}

// bound makes room for a new row. The bucket's sequence counts its rows; a full
// bucket loses its oldest quarter.
func (t *Tx) bound(bucket []byte, key string) {
	b := t.bucket(bucket)
	if t.err != nil || b.Get([]byte(key)) != nil {
		return
	}
	rows := b.Sequence()
	if rows >= maxRows {
		rows -= thin(b)
	}
	if err := b.SetSequence(rows + 1); err != nil {
		t.err = err
	}
}

// thin deletes the oldest quarter of a bucket and tells how many rows went. Rows
// without a time are the oldest.
func thin(b *bolt.Bucket) (gone uint64) {
	type row struct {
		key []byte
		at  time.Time
	}
	var rows []row
	_ = b.ForEach(func(k, v []byte) error {
		var times struct{ At, Last time.Time }
		_ = json.Unmarshal(v, &times) // an unreadable row is the first to go
		at := times.At
		if at.IsZero() {
			at = times.Last
		}
		rows = append(rows, row{append([]byte(nil), k...), at})
		return nil
	})
	sort.SliceStable(rows, func(a, b int) bool { return rows[a].at.Before(rows[b].at) })
	for _, r := range rows[:len(rows)/4] {
		if b.Delete(r.key) == nil {
			gone++
		}
	}
	return gone
}

// load copies the store, or the part of it that belongs to ids.
func load(tx *bolt.Tx, ids []string) Snapshot {
	s := Snapshot{Exists: true}
	s.Session, _ = get[Session](tx, bucketMeta, string(keySession))
	s.Looks = looks(tx)
	if ids = above(tx, ids); ids == nil {
		s.Cursors = rows[transcript.Cursor](tx, bucketCursors, nil)
	} else {
		s.Cursors, s.unread = cursors(tx, ids)
	}
	s.Agents = rows[Agent](tx, bucketAgents, ids)
	s.Launches = rows[transcript.Launch](tx, bucketLaunches, ids)
	s.Ends, s.Heard = rows[End](tx, bucketEnds, ids), map[string]transcript.Delivery{}
	for task, end := range s.Ends {
		if end.Status == "" {
			s.Heard[task] = transcript.Delivery{Task: task, To: end.DeliveredTo, At: end.Delivered}
			delete(s.Ends, task)
		}
	}
	s.Charged, s.Waited, s.Told = map[string]int{}, map[string]time.Duration{}, map[string]bool{}
	for task, c := range rows[Charge](tx, bucketCharges, ids) {
		s.Charged[task], s.Waited[task] = c.Blocks, c.Waited
		if c.Told {
			s.Told[task] = true
		}
	}
	s.Released = map[string]bool{}
	for task := range rows[time.Time](tx, bucketReleased, ids) {
		s.Released[task] = true
	}
	s.Worth = rows[Worth](tx, bucketWorth, ids)
	s.Holds = unanswered(tx)
	s.Watches = map[string]Watch{}
	for _, w := range list[Watch](tx, bucketWatches) {
		s.Watches[w.AgentID] = w
	}
	if ids == nil {
		s.Couriers = rows[Courier](tx, bucketCouriers, nil)
		s.Stops, s.Acts = list[Stop](tx, bucketStops), list[Act](tx, bucketActs)
	}
	return s
}

// rows reads a bucket, or only some keys of it.
func rows[T any](tx *bolt.Tx, bucket []byte, keys []string) map[string]T {
	out := map[string]T{}
	for _, key := range names(tx, bucket, keys) {
		if v, ok := get[T](tx, bucket, key); ok {
			out[key] = v
		}
	}
	return out
}

// names are the keys of a bucket, or the ones that are asked for.
func names(tx *bolt.Tx, bucket []byte, keys []string) []string {
	b := tx.Bucket(bucket)
	if b == nil || keys != nil {
		return keys
	}
	_ = b.ForEach(func(k, _ []byte) error {
		keys = append(keys, string(k))
		return nil
	})
	return keys
}
