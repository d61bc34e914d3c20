import assert from 'node:assert/strict'

import {processMetrics, storageMetrics} from '../../../src/server/metrics/process-metrics.ts'
import {MetricsRegistry} from '../../../src/server/metrics/registry.ts'
import {requestMetrics} from '../../../src/server/metrics/request-metrics.ts'
import type {RequestLabels} from '../../../src/server/metrics/request-metrics.ts'

const labels: RequestLabels = {
  verb: 'GET',
  group: '',
  version: 'v1',
  resource: 'secrets',
  subresource: '',
  scope: 'resource',
  dryRun: false,
}

describe('request metrics', () => {
  it('count and time requests under the names of kube-apiserver', () => {
    const registry = new MetricsRegistry()
    const metrics = requestMetrics(registry)
    metrics.finished(labels, 200, 0.02)
    const text = registry.text()
    assert.match(
      text,
      /^apiserver_request_total\{code="200",component="apiserver",dry_run="",group="",resource="secrets",scope="resource",subresource="",verb="GET",version="v1"\} 1$/m,
    )
    assert.match(text, /^apiserver_request_duration_seconds_bucket\{.*le="0.025"\} 1$/m)
    assert.match(text, /^apiserver_request_duration_seconds_bucket\{.*le="0.005"\} 0$/m)
  })

  it('know what is in flight', () => {
    const registry = new MetricsRegistry()
    const ended = requestMetrics(registry).started('mutating')
    const inFlight = /^apiserver_current_inflight_requests\{request_kind="mutating"\} (\d)$/m
    assert.equal(inFlight.exec(registry.text())?.[1], '1')
    ended()
    assert.equal(inFlight.exec(registry.text())?.[1], '0')
  })

  it('count watches while they are open and leave their time out', () => {
    const registry = new MetricsRegistry()
    const metrics = requestMetrics(registry)
    const watch: RequestLabels = {...labels, verb: 'WATCH', scope: 'cluster'}
    const ended = metrics.watchStarted(watch)
    assert.match(registry.text(), /^apiserver_longrunning_requests\{.*verb="WATCH".*\} 1$/m)
    ended()
    metrics.finished(watch, 200, 600)
    const text = registry.text()
    assert.match(text, /^apiserver_longrunning_requests\{.*\} 0$/m)
    assert.doesNotMatch(text, /^apiserver_request_duration_seconds_count/m)
  })
})

describe('the other metrics', () => {
  it('name stored objects by resource and group', () => {
    const registry = new MetricsRegistry()
    storageMetrics(registry, {
      objects: () => [
        {group: '', plural: 'secrets', count: 2},
        {group: 'coordination.k8s.io', plural: 'leases', count: 1},
      ],
      revision: () => 42,
      usage: () => ({live: 7, history: 3}),
    })
    const text = registry.text()
    assert.match(text, /^apiserver_storage_objects\{resource="secrets"\} 2$/m)
    assert.match(text, /^apiserver_storage_objects\{resource="leases.coordination.k8s.io"\} 1$/m)
    assert.match(text, /^trustadm_storage_revision 42$/m)
    assert.match(text, /^trustadm_storage_bytes\{kind="history"\} 3$/m)
  })

  it('tell of the process in every line what Prometheus can read', () => {
    const registry = new MetricsRegistry()
    processMetrics(registry)
    const text = registry.text()
    assert.match(text, /^process_resident_memory_bytes \d{7,}$/m)
    assert.match(text, /^process_start_time_seconds \d{10}/m)
    assert.match(text, /^trustadm_build_info\{version="\d.*"\} 1$/m)
    for (const line of text.trimEnd().split('\n')) {
      assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{.*\})? -?[\d.e+-]+)$/)
    }
  })
})
