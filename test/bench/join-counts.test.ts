import assert from 'node:assert/strict'
import {callsAdded, syncsIn} from '../../bench/join-counts.ts'

const metric = (code: number, subresource: string, verb: string, value: number) =>
  `apiserver_request_total{code="${code}",component="apiserver",resource="leases",subresource="${subresource}",verb="${verb}"} ${value}\n`

describe('the counts of a join', () => {
  it('are of the calls between two readings of the metrics, whatever they were answered', () => {
    const before = metric(200, '', 'GET', 3) + metric(200, '', 'LIST', 1)
    const after =
      metric(200, '', 'GET', 5) +
      metric(404, '', 'GET', 1) +
      metric(200, '', 'LIST', 1) +
      metric(200, 'status', 'PUT', 1)
    assert.deepEqual(
      [...callsAdded(before, after)],
      [
        ['GET leases', 3],
        ['PUT leases/status', 1],
      ],
    )
  })

  it('leave out calls that are not about objects, such as the reading of the metrics', () => {
    const after = 'apiserver_request_total{code="200",resource="",subresource="",verb="GET"} 1\n'
    assert.deepEqual([...callsAdded('', after)], [])
  })

  it('are of the calls that wait for the disk, by file', () => {
    const output = [
      '11 fdatasync(21</a/store/data.mdb>) = 0',
      '12 fdatasync(21</a/store/data.mdb> <unfinished ...>',
      '11 fsync(25</a/logs/issuance.log>) = 0',
      '12 <... fdatasync resumed>) = 0',
      '13 write(22</a/logs/audit.log>, "x", 1) = 1',
      '13 write(23</a/logs/issuance.log>, "x", 1) = 1',
      '11 +++ exited with 0 +++',
    ].join('\n')
    assert.deepEqual(
      [...syncsIn(output)],
      [
        ['data.mdb', 2],
        ['issuance.log', 2],
      ],
    )
  })
})
