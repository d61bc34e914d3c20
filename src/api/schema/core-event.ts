/** Types of events; parse.ts tells how a table is read. */
export const EVENT = `
Event object | Event.
  1 metadata:meta.ObjectMeta! required | Metadata.
  2 involvedObject:ObjectReference! required | Involved object.
  3 reason:string | Reason.
  4 message:string | Message.
  5 source:EventSource! | Source.
  6 firstTimestamp:Time! | First timestamp.
  7 lastTimestamp:Time! | Last timestamp.
  8 count:int32 | Count.
  9 type:string | Type.
  10 eventTime:MicroTime! | Event time.
  11* series:EventSeries | Series.
  12 action:string | Action.
  13* related:ObjectReference | Related.
  14 reportingComponent:string! | Reporting component.
  15 reportingInstance:string! | Reporting instance.

EventSource | Event source.
  1 component:string | Component.
  2 host:string | Host.

EventSeries | Event series.
  1 count:int32 | Count.
  2 lastObservedTime:MicroTime! | Last observed time.
`
