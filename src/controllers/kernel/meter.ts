/** A number that is measured when the metrics are read. */
export interface Measured {
  labels: readonly string[]
  value: number
}

/** Where a controller registers its metrics, in Prometheus' terms. */
export interface Meter {
  measured(
    metric: {name: string; help: string},
    type: 'counter' | 'gauge',
    measure: () => Iterable<Measured>,
  ): void
}
