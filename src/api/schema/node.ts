/** Types of runtime classes; parse.ts tells how a table is read. */
export const RUNTIME_CLASS = `
RuntimeClass object | Runtime class.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 handler:string! required | Handler.
  3* overhead:Overhead | Overhead.
  4* scheduling:Scheduling | Scheduling.

Overhead | Overhead.
  1 podFixed:map<Quantity> | Pod fixed.

Scheduling | Scheduling.
  1 nodeSelector:map<string> atomic | Node selector.
  2 tolerations:[]core.Toleration | Tolerations.
`
