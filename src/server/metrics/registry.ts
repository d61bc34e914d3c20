/** Prometheus' text format 0.0.4. It is short enough not to need a library. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The values of a metric's labels, in the order of their names. */
type LabelValues = readonly string[]

export interface Counter {
  add: (labels: LabelValues, amount?: number) => void
}

export interface Gauge extends Counter {
  set: (labels: LabelValues, value: number) => void
}

export interface Histogram {
  observe: (labels: LabelValues, value: number) => void
}

/** One value with its labels, measured when the metrics are read. */
export interface Sample {
  labels: LabelValues
  value: number
}

export interface MetricOptions {
  name: string
  help: string
  labels?: readonly string[]
}

interface Series<State> {
  labels: LabelValues
  state: State
}

const escapeHelp = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')

const escapeLabel = (text: string) => escapeHelp(text).replaceAll('"', '\\"')

function shown(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (Number.isFinite(value)) return String(value)
  return value > 0 ? '+Inf' : '-Inf'
}

function line(name: string, names: readonly string[], values: LabelValues, value: number): string {
  if (names.length === 0) return `${name} ${shown(value)}\n`
  const pairs = names.map((label, index) => `${label}="${escapeLabel(values[index] ?? '')}"`)
  return `${name}{${pairs.join(',')}} ${shown(value)}\n`
}

const header = ({name, help}: MetricOptions, type: string) =>
  `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`

/** One state for each combination of labels that has been seen. */
class SeriesMap<State> {
  readonly #series = new Map<string, Series<State>>()
  readonly #initial: () => State

  constructor(initial: () => State) {
    this.#initial = initial
  }

  at(labels: LabelValues): Series<State> {
    const key = labels.join('\u0000')
    let series = this.#series.get(key)
    if (series === undefined) {
      series = {labels: [...labels], state: this.#initial()}
      this.#series.set(key, series)
    }
    return series
  }

  all(): Iterable<Series<State>> {
    return this.#series.values()
  }
}

interface Buckets {
  counts: number[]
  count: number
  sum: number
}

/** Every metric of the process, in the order of registration. One that is registered again replaces the first. */
export class MetricsRegistry {
  readonly #metrics = new Map<string, () => string>()

  counter(options: MetricOptions): Counter {
    return this.#numbers(options, 'counter')
  }

  gauge(options: MetricOptions): Gauge {
    return this.#numbers(options, 'gauge')
  }

  /** A metric that is measured when it is read. */
  measured(
    options: MetricOptions,
    type: 'counter' | 'gauge',
    measure: () => Iterable<Sample>,
  ): void {
    const {name, labels: names = []} = options
    this.#metrics.set(name, () =>
      [...measure()].reduce(
        (text, {labels, value}) => text + line(name, names, labels, value),
        header(options, type),
      ),
    )
  }

  histogram(options: MetricOptions & {buckets: readonly number[]}): Histogram {
    const {name, labels: names = [], buckets} = options
    const series = new SeriesMap<Buckets>(() => ({
      counts: new Array<number>(buckets.length).fill(0),
      count: 0,
      sum: 0,
    }))
    this.#metrics.set(name, () => {
      let text = header(options, 'histogram')
      for (const {labels, state} of series.all()) {
        let below = 0
        buckets.forEach((bound, index) => {
          below += state.counts[index] ?? 0
          text += line(`${name}_bucket`, [...names, 'le'], [...labels, shown(bound)], below)
        })
        text += line(`${name}_bucket`, [...names, 'le'], [...labels, '+Inf'], state.count)
        text += line(`${name}_sum`, names, labels, state.sum)
        text += line(`${name}_count`, names, labels, state.count)
      }
      return text
    })
    return {
      observe: (labels, value) => {
        const {state} = series.at(labels)
        const index = buckets.findIndex((bound) => value <= bound)
        if (index >= 0) state.counts[index] = (state.counts[index] ?? 0) + 1
        state.count += 1
        state.sum += value
      },
    }
  }

  /** Everything, as Prometheus reads it. */
  text(): string {
    return Array.from(this.#metrics.values(), (metric) => metric()).join('')
  }

  #numbers(options: MetricOptions, type: 'counter' | 'gauge'): Gauge {
    const series = new SeriesMap<{value: number}>(() => ({value: 0}))
    this.measured(options, type, function* () {
      for (const {labels, state} of series.all()) yield {labels, value: state.value}
    })
    return {
      add: (labels, amount = 1) => {
        series.at(labels).state.value += amount
      },
      set: (labels, value) => {
        series.at(labels).state.value = value
      },
    }
  }
}
