package telemetry

// Names of attributes, in the words of the OpenTelemetry conventions where those have
// one, and below "stopgate." else. docs/telemetry.md lists them with units and
// stability; a test holds the two together.
const (
	attrSession      = "session.id"
	attrConversation = "gen_ai.conversation.id"
	attrOperation    = "gen_ai.operation.name"
	attrAgentID      = "gen_ai.agent.id"
	attrAgentName    = "gen_ai.agent.name"
	attrToolCall     = "gen_ai.tool.call.id"
	attrPrompt       = "prompt.id"
	attrExitCode     = "process.exit.code"
	attrCommand      = "process.command_line"
	attrRecordUID    = "log.record.uid"

	attrClientVersion = "stopgate.client.version"
	attrClientHost    = "stopgate.client.host"
	attrProject       = "stopgate.project.id"
	attrProjectPath   = "stopgate.project.path"
	attrVerdict       = "stopgate.stop.verdict"
	attrCode          = "stopgate.stop.code"
	attrSeq           = "stopgate.stop.number"
	attrObserved      = "stopgate.stop.observed"
	attrHeld          = "stopgate.hold.seconds"
	attrLimit         = "stopgate.hold.limit"
	attrWork          = "stopgate.hook.seconds"
	attrOwn           = "stopgate.tasks.own"
	attrListed        = "stopgate.tasks.listed"
	attrUnowned       = "stopgate.tasks.unowned"
	attrHanded        = "stopgate.tasks.handed"
	attrTask          = "stopgate.task.id"
	attrTaskKind      = "stopgate.task.kind"
	attrTaskState     = "stopgate.task.state"
	attrTaskLeft      = "stopgate.task.left"
	attrTaskHeard     = "stopgate.task.heard"
	attrTaskBlocks    = "stopgate.task.blocks"
	attrStops         = "stopgate.agent.stops"
	attrBlocks        = "stopgate.agent.blocks"
	attrMember        = "stopgate.agent.teammate"
	attrDeed          = "stopgate.act.deed"
	attrAtMost        = "stopgate.act.limit_seconds"
	attrWaited        = "stopgate.courier.seconds"
	attrEnd           = "stopgate.courier.end"
	attrReason        = "stopgate.courier.reason"
)

// Names of spans.
const (
	spanSession = "session"
	spanAgent   = "invoke_agent"
	spanTask    = "task"
	spanStop    = "stop"
	spanHold    = "hold"
	spanCourier = "courier"
	spanWait    = "courier_wait"
)

// Names of log records' events.
const (
	eventStop    = "stopgate.stop"
	eventCourier = "stopgate.courier"
	eventHold    = "stopgate.hold"
	eventStood   = "stopgate.courier.stood"
	eventLeft    = "stopgate.courier.left"
	eventFell    = "stopgate.courier.lost"
	eventRelease = "stopgate.release"
	eventOff     = "stopgate.off"
	eventOn      = "stopgate.on"
)

// Metric is a metric that is told.
type Metric struct {
	// Name, Unit and Description are as they are sent. A unit in braces counts things.
	Name, Unit, Description string
	// Bounds are those of a histogram's buckets; nil for a counter.
	Bounds []float64
}

// The metrics. Every counter only grows, and what it counts is counted once.
var (
	Sessions = Metric{Name: "stopgate.sessions", Unit: "{session}", Description: "sessions that are over"}
	Stops    = Metric{Name: "stopgate.stops", Unit: "{stop}", Description: "stops of agents that were answered"}
	Holds    = Metric{
		Name: "stopgate.hold.duration", Unit: "s", Description: "how long stops were held",
		Bounds: []float64{1, 5, 15, 60, 180, 300, 600, 1200, 3600},
	}
	Hooks = Metric{
		Name: "stopgate.hook.duration", Unit: "s", Description: "how long the hook itself worked for a stop",
		Bounds: []float64{0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3},
	}
	Results = Metric{Name: "stopgate.results", Unit: "{task}", Description: "ends of tasks that were handed over to their agents"}
	Tasks   = Metric{Name: "stopgate.tasks", Unit: "{task}", Description: "background tasks that are over"}
	Left    = Metric{Name: "stopgate.tasks.left", Unit: "{task}", Description: "tasks that ran on when their agents were let go"}
	Unheard = Metric{Name: "stopgate.tasks.unheard", Unit: "{task}", Description: "tasks whose end nobody heard of"}
	Wakes   = Metric{Name: "stopgate.courier.wakes", Unit: "{wake}", Description: "wakes of the coordinator for a task that nobody was told of"}
	Waits   = Metric{
		Name: "stopgate.courier.duration", Unit: "s", Description: "how long couriers waited",
		Bounds: []float64{1, 5, 15, 60, 180, 300, 600, 1200, 3600},
	}
	Acts = Metric{Name: "stopgate.acts", Unit: "{act}", Description: "what persons did in sessions: releases, and the switch"}
)

// Metrics are all of them.
var Metrics = []Metric{Sessions, Stops, Holds, Hooks, Results, Tasks, Left, Unheard, Wakes, Waits, Acts}
