package transcript

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"stopgate/pkg/host"
)

// Names of an agent's files (docs/client.md: files).
const (
	agentPrefix   = "agent-"
	transcriptExt = ".jsonl"
	metaExt       = ".meta.json"
	agentsDir     = "subagents"
	workflowsDir  = "workflows"
	// maxMeta bounds what is read of a meta file.
	maxMeta = 256 << 10
)

// AgentMeta is an agent's .meta.json. Every key may be missing.
type AgentMeta struct {
	// AgentType is the type, or the name for a teammate.
	AgentType string
	// Description is the launcher's one line about it; Name a name for messages.
	Description, Name string
	// ParentAgentID is the launching agent, "" for the coordinator's agents and
	// on clients before 2.1.220.
	ParentAgentID string
	// ToolUseID is the tool call that launched it.
	ToolUseID string
	// TeamName and Color belong to a teammate.
	TeamName, Color string
	// Teammate marks an in-process teammate.
	Teammate bool
}

// MetaPath is the .meta.json beside a transcript, "" for none.
func MetaPath(transcript string) string {
	if transcript == "" {
		return ""
	}
	return strings.TrimSuffix(transcript, transcriptExt) + metaExt
}

// ReadMeta reads the .meta.json beside an agent's transcript.
func ReadMeta(files host.Files, transcript string) (AgentMeta, error) {
	data, err := files.ReadSmall(MetaPath(transcript), maxMeta)
	if err != nil {
		return AgentMeta{}, err
	}
	m := gjson.ParseBytes(data)
	return AgentMeta{
		AgentType:     str(m.Get("agentType")),
		Description:   str(m.Get("description")),
		Name:          str(m.Get("name")),
		ParentAgentID: str(m.Get("parentAgentId")),
		ToolUseID:     str(m.Get("toolUseId")),
		TeamName:      str(m.Get("teamName")),
		Color:         str(m.Get("color")),
		Teammate:      str(m.Get("taskKind")) == "in_process_teammate",
	}, nil
}

// Launch is the launch of an agent that its meta file tells of: that names the
// parent since 2.1.220. path is the agent's transcript.
func (m AgentMeta) Launch(agentID, path string) (l Launch, ok bool) {
	l = Launch{Task: agentID, Owner: m.ParentAgentID, Kind: "subagent", ToolUseID: m.ToolUseID, Evidence: Meta, File: MetaPath(path)}
	return l, m.ParentAgentID != ""
}

// AgentsDir is the folder of a session's agents, beside the coordinator's
// transcript.
func AgentsDir(mainTranscript string) string {
	if mainTranscript == "" {
		return ""
	}
	return filepath.Join(strings.TrimSuffix(mainTranscript, transcriptExt), agentsDir)
}

// AgentPath is the transcript of an agent in a session's folder of agents, or ""
// for an id that is no plain name.
func AgentPath(dir, agentID string) string {
	if dir == "" || !plainName(agentID) {
		return ""
	}
	return filepath.Join(dir, agentPrefix+agentID+transcriptExt)
}

// InboxPath is the file in which a teammate's messages wait: below the configuration
// folder that holds the coordinator's transcript. "" for what is no plain name
// (docs/client.md: messages).
func InboxPath(mainTranscript, team, member string) string {
	if !filepath.IsAbs(mainTranscript) || !plainName(team) || !plainName(member) {
		return ""
	}
	config := filepath.Dir(filepath.Dir(filepath.Dir(mainTranscript)))
	return filepath.Join(config, "teams", team, "inboxes", member+".json")
}

// plainName tells whether a name can stand in a path as it is.
func plainName(name string) bool {
	for _, r := range name {
		plain := r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !plain {
			return false
		}
	}
	return name != "" && len(name) <= 128
}

// AgentOf is the agent whose transcript a path is, or "".
func AgentOf(path string) string {
	name := filepath.Base(path)
	if !strings.HasPrefix(name, agentPrefix) || !strings.HasSuffix(name, transcriptExt) {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(name, agentPrefix), transcriptExt)
}

// WorkflowsDir is the folder of the folders of workflows' agents in one of agents.
func WorkflowsDir(agents string) string { return filepath.Join(agents, workflowsDir) }

// Agents lists the agents' transcripts of a folder of agents, workflow agents
// included, in no order.
func Agents(files host.Files, dir string) []string {
	return agentsIn(files, dir, flows(files, dir))
}

func agentsIn(files host.Files, dir string, flows []string) []string {
	if dir == "" {
		return nil
	}
	out := transcriptsIn(files, dir)
	for _, flow := range flows {
		out = append(out, transcriptsIn(files, flow)...)
	}
	return out
}

// transcriptsIn lists the agents' transcripts that lie in a folder. A link that
// leads to a file of another name is none.
func transcriptsIn(files host.Files, dir string) []string {
	var out []string
	entries, _ := files.ReadDir(dir) // a missing folder has no agents
	within := filepath.Join(dir, "x")
	within = within[:len(within)-1]
	for _, e := range entries {
		path := within + e.Name() // there may be thousands
		switch id := AgentOf(e.Name()); {
		case id == "" || e.IsDir():
		case e.Type()&fs.ModeSymlink != 0 && AgentOf(linked(files, path)) != id:
		default:
			out = append(out, path)
		}
	}
	return out
}

// flows are the folders of the workflows below a folder of agents, in their order.
func flows(files host.Files, dir string) []string {
	if dir == "" {
		return nil
	}
	dir = WorkflowsDir(dir)
	var out []string
	entries, _ := files.ReadDir(dir) // most sessions have none
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(out)
	return out
}
