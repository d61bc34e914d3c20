export interface Call {
  id: number
  name: string
  argument: unknown
}

export interface Answer {
  id: number
  result?: unknown
  error?: string
}

export type Operations = Record<string, (argument: any) => unknown>

/** Serves the operations to the process that started this one, and ends with it. */
export function serveCalls(operations: Operations): void {
  process.on('message', ({id, name, argument}: Call) => {
    const operation = operations[name]
    Promise.resolve(argument)
      .then((given) => {
        if (operation === undefined) throw new Error(`no operation "${name}"`)
        return operation(given)
      })
      .then(
        (result: unknown) => process.send?.({id, result} satisfies Answer),
        (error: unknown) => process.send?.({id, error: String(error)} satisfies Answer),
      )
  })
  process.on('disconnect', () => process.exit())
}
