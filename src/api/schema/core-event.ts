/** Types of events; parse.ts describes the format. */
export const EVENT = `
Event object | Something that happened to an object; kept for a short while.
  1 metadata:meta.ObjectMeta! required | Name, labels and other metadata.
  2 involvedObject:ObjectReference! required | What the event is about.
  3 reason:string | One word for what happened.
  4 message:string | A sentence about what happened.
  5 source:EventSource! | Who saw it.
  6 firstTimestamp:Time! | When it was first seen.
  7 lastTimestamp:Time! | When it was last seen.
  8 count:int32 | How often it was seen.
  9 type:string | Normal or Warning.
  10 eventTime:MicroTime! | When it was first seen, to the microsecond.
  11* series:EventSeries | How often it came again.
  12 action:string | What was done.
  13* related:ObjectReference | A further object that the event is about.
  14 reportingComponent:string! | The controller that tells it.
  15 reportingInstance:string! | Which instance of the controller tells it.

EventSource | Who saw an event.
  1 component:string | The program's name.
  2 host:string | The node's name.

EventSeries | How often an event came again.
  1 count:int32 | How often it came so far.
  2 lastObservedTime:MicroTime! | When it came last.
`
