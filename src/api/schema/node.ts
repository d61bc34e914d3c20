/** Types of runtime classes; parse.ts describes the format. */
export const RUNTIME_CLASS = `
RuntimeClass object | A way to run containers that pods can choose.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 handler:string! required | What the container runtime calls it.
  3* overhead:Overhead | What running a pod costs beside its containers.
  4* scheduling:Scheduling | Where such pods can run.

Overhead | What running a pod costs beside its containers.
  1 podFixed:map<Quantity> | What every pod costs.

Scheduling | Where pods of a runtime class can run.
  1 nodeSelector:map<string> atomic | Labels that a node must have.
  2 tolerations:[]core.Toleration | Taints that do not matter.
`
