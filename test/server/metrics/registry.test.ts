import assert from 'node:assert/strict'

import {MetricsRegistry} from '../../../src/server/metrics/registry.ts'

describe('the metrics registry', () => {
  it('writes counters and gauges with their labels', () => {
    const registry = new MetricsRegistry()
    const requests = registry.counter({name: 'r_total', help: 'Requests', labels: ['verb', 'code']})
    const level = registry.gauge({name: 'level', help: 'A level'})
    requests.add(['GET', '200'])
    requests.add(['GET', '200'], 2)
    requests.add(['PUT', '409'])
    level.set([], 1.5)
    level.add([], -1)
    assert.equal(
      registry.text(),
      `# HELP r_total Requests
# TYPE r_total counter
r_total{verb="GET",code="200"} 3
r_total{verb="PUT",code="409"} 1
# HELP level A level
# TYPE level gauge
level 0.5
`,
    )
  })

  it('escapes what the format needs escaped', () => {
    const registry = new MetricsRegistry()
    registry.counter({name: 'c', help: 'a\\b\nc', labels: ['l']}).add(['say "x"\\\n'])
    assert.equal(
      registry.text(),
      '# HELP c a\\\\b\\nc\n# TYPE c counter\nc{l="say \\"x\\"\\\\\\n"} 1\n',
    )
  })

  it('counts a histogram up to each bound', () => {
    const registry = new MetricsRegistry()
    const seconds = registry.histogram({name: 's', help: 'Time', labels: ['v'], buckets: [0.1, 1]})
    for (const value of [0.05, 0.1, 0.5, 7]) seconds.observe(['GET'], value)
    assert.equal(
      registry.text(),
      `# HELP s Time
# TYPE s histogram
s_bucket{v="GET",le="0.1"} 2
s_bucket{v="GET",le="1"} 3
s_bucket{v="GET",le="+Inf"} 4
s_sum{v="GET"} 7.65
s_count{v="GET"} 4
`,
    )
  })

  it('measures when it is read', () => {
    const registry = new MetricsRegistry()
    let objects = 1
    registry.measured({name: 'objects', help: 'Objects'}, 'gauge', () => [
      {labels: [], value: objects},
    ])
    assert.match(registry.text(), /^objects 1$/m)
    objects = Infinity
    assert.match(registry.text(), /^objects \+Inf$/m)
  })

  it('replaces a metric that is registered again', () => {
    const registry = new MetricsRegistry()
    for (const value of [1, 2])
      registry.measured({name: 'now', help: 'Now'}, 'gauge', () => [{labels: [], value}])
    assert.equal(registry.text(), '# HELP now Now\n# TYPE now gauge\nnow 2\n')
  })

  it('keeps label values apart that read the same when joined', () => {
    const registry = new MetricsRegistry()
    const counter = registry.counter({name: 'c', help: 'c', labels: ['a', 'b']})
    counter.add(['x', ''])
    counter.add(['', 'x'])
    assert.match(registry.text(), /c\{a="x",b=""\} 1\nc\{a="",b="x"\} 1\n/)
  })
})
