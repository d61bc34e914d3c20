import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {readFile} from 'node:fs/promises'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {whyNoPrometheus} from '../helpers/prometheus.ts'

const run = promisify(execFile)
const fileAt = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

describe('the files of monitoring/', () => {
  it('are alert rules that promtool accepts and that fire when they should', async function () {
    const reason = whyNoPrometheus()
    if (reason !== undefined) {
      this.test!.title += ` (skipped: ${reason})`
      this.skip()
    }
    await run('promtool', ['check', 'rules', fileAt('monitoring/alerts.yaml')])
    await run('promtool', ['test', 'rules', fileAt('test/monitoring/alerts.promtool.yaml')])
  })

  it('are a dashboard whose panels have a place of their own and a query', async () => {
    const dashboard = JSON.parse(
      await readFile(fileAt('monitoring/grafana-dashboard.json'), 'utf8'),
    ) as {
      panels: {
        id: number
        gridPos: {x: number; y: number; w: number; h: number}
        targets: {expr: string}[]
      }[]
    }
    const {panels} = dashboard
    assert.equal(new Set(panels.map(({id}) => id)).size, panels.length)
    const cells = panels.flatMap(({gridPos: {x, y, w, h}}) =>
      Array.from({length: w * h}, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
    )
    assert.equal(new Set(cells).size, cells.length)
    for (const {targets} of panels) assert.ok(targets.length > 0 && targets.every(({expr}) => expr))
  })
})
