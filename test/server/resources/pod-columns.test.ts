import assert from 'node:assert/strict'

import {cells} from './support.ts'

const two = {containers: [{name: 'a'}, {name: 'b'}]}
const running = (name: string) => ({name, ready: true, state: {running: {}}})

const rows: [name: string, pod: object, ready: string, status: string, restarts: string][] = [
  ['a pod that waits', {spec: two, status: {phase: 'Pending'}}, '0/2', 'Pending', '0'],
  [
    'a pod that runs',
    {spec: two, status: {phase: 'Running', containerStatuses: [running('a'), running('b')]}},
    '2/2',
    'Running',
    '0',
  ],
  [
    'a container that crashes',
    {
      spec: two,
      status: {
        phase: 'Running',
        containerStatuses: [
          running('a'),
          {
            name: 'b',
            restartCount: 3,
            state: {waiting: {reason: 'CrashLoopBackOff'}},
            lastState: {terminated: {finishedAt: '2026-01-02T03:00:05Z'}},
          },
        ],
      },
    },
    '1/2',
    'CrashLoopBackOff',
    '3 (4m ago)',
  ],
  [
    'containers that are done beside one that runs',
    {
      spec: two,
      status: {
        phase: 'Running',
        conditions: [{type: 'Ready', status: 'True'}],
        containerStatuses: [{state: {terminated: {reason: 'Completed'}}}, running('b')],
      },
    },
    '1/2',
    'Running',
    '0',
  ],
  [
    'a container that ended without a reason',
    {spec: two, status: {containerStatuses: [{state: {terminated: {exitCode: 2}}}]}},
    '0/2',
    'ExitCode:2',
    '0',
  ],
  [
    'the second of two init containers',
    {
      spec: {...two, initContainers: [{name: 'i'}, {name: 'j'}]},
      status: {
        phase: 'Pending',
        initContainerStatuses: [
          {name: 'i', state: {terminated: {exitCode: 0}}},
          {name: 'j', state: {running: {}}},
        ],
      },
    },
    '0/2',
    'Init:1/2',
    '0',
  ],
  [
    'an init container that failed',
    {
      spec: {...two, initContainers: [{name: 'i'}]},
      status: {initContainerStatuses: [{name: 'i', state: {terminated: {exitCode: 1, signal: 9}}}]},
    },
    '0/2',
    'Init:Signal:9',
    '0',
  ],
  [
    'a sidecar that is ready',
    {
      spec: {containers: [{name: 'a'}], initContainers: [{name: 's', restartPolicy: 'Always'}]},
      status: {
        phase: 'Running',
        initContainerStatuses: [{...running('s'), started: true, restartCount: 1}],
        containerStatuses: [running('a')],
      },
    },
    '2/2',
    'Running',
    '1',
  ],
  [
    'a pod that goes',
    {metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: two, status: {phase: 'Running'}},
    '0/2',
    'Terminating',
    '0',
  ],
  [
    'a pod that goes with its node',
    {
      metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'},
      spec: two,
      status: {phase: 'Running', reason: 'NodeLost'},
    },
    '0/2',
    'Unknown',
    '0',
  ],
  [
    'a pod behind gates',
    {
      spec: two,
      status: {
        phase: 'Pending',
        conditions: [{type: 'PodScheduled', status: 'False', reason: 'SchedulingGated'}],
      },
    },
    '0/2',
    'SchedulingGated',
    '0',
  ],
  [
    'a pod that was evicted',
    {spec: two, status: {phase: 'Failed', reason: 'Evicted'}},
    '0/2',
    'Evicted',
    '0',
  ],
]

describe('the table of pods', () => {
  for (const [name, pod, ready, status, restarts] of rows) {
    it(`shows ${name} as ${ready} ${status} ${restarts}`, () => {
      const shown = cells('pods', {...pod})
      assert.deepEqual([shown.Ready, shown.Status, shown.Restarts], [ready, status, restarts])
    })
  }

  it('shows where it is', () => {
    const shown = cells('pods', {
      spec: {nodeName: 'n1', readinessGates: [{conditionType: 'a'}, {conditionType: 'b'}]},
      status: {podIPs: [{ip: '192.0.2.1'}], conditions: [{type: 'a', status: 'True'}]},
    })
    assert.deepEqual(
      [shown.IP, shown.Node, shown['Nominated Node'], shown['Readiness Gates']],
      ['192.0.2.1', 'n1', '<none>', '1/2'],
    )
  })
})
