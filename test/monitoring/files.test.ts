import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {whyNoPrometheus} from '../helpers/prometheus.ts'

const run = promisify(execFile)
const fileAt = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** Of Grafana's own panels. */
const PANELS = new Set(['stat', 'bargauge', 'timeseries', 'table', 'gauge'])

/** What Grafana documents as the model of a dashboard, as far as it is used here. */
interface Dashboard {
  schemaVersion: number
  uid: string
  title: string
  time: {from: string; to: string}
  templating: {list: {name: string}[]}
  panels: {
    id: number
    type: string
    title: string
    datasource: unknown
    gridPos: {x: number; y: number; w: number; h: number}
    fieldConfig: {defaults: object; overrides: unknown}
    targets: {expr: string; refId: string}[]
  }[]
}

const readDashboard = async (): Promise<Dashboard> =>
  JSON.parse(await readFile(fileAt('monitoring/grafana-dashboard.json'), 'utf8')) as Dashboard

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

  it('are a dashboard in the form that Grafana imports', async () => {
    const {schemaVersion, uid, title, panels, templating, time} = await readDashboard()
    assert.ok(Number.isInteger(schemaVersion) && uid && title && time.from && time.to)
    const variables = templating.list.map(({name}) => name)
    assert.deepEqual(variables, ['datasource', 'instance'])
    assert.equal(new Set(panels.map(({id}) => id)).size, panels.length)
    for (const {id, type, title: name, datasource, targets, fieldConfig} of panels) {
      assert.ok(Number.isInteger(id) && name, name)
      assert.ok(PANELS.has(type), type)
      assert.deepEqual(datasource, {type: 'prometheus', uid: '${datasource}'}, name)
      assert.ok(Array.isArray(fieldConfig.overrides), name)
      assert.equal(typeof fieldConfig.defaults, 'object', name)
      assert.ok(targets.length > 0 && targets.every(({expr}) => expr), name)
      assert.equal(new Set(targets.map(({refId}) => refId)).size, targets.length, name)
      const used = targets.flatMap(({expr}) => expr.match(/\$\w+/g) ?? [])
      assert.deepEqual(new Set(used.filter((one) => !variables.includes(one.slice(1)))), new Set())
    }
  })

  it('are a dashboard whose panels have a place of their own, on a grid of 24 columns', async () => {
    const {panels} = await readDashboard()
    for (const {gridPos, title} of panels) assert.ok(gridPos.x + gridPos.w <= 24, title)
    const cells = panels.flatMap(({gridPos: {x, y, w, h}}) =>
      Array.from({length: w * h}, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
    )
    assert.equal(new Set(cells).size, cells.length)
  })

  it('are a dashboard whose every query promtool can parse', async function () {
    const reason = whyNoPrometheus()
    if (reason !== undefined) {
      this.test!.title += ` (skipped: ${reason})`
      this.skip()
    }
    const {panels} = await readDashboard()
    const rules = panels.flatMap(({id, targets}) =>
      targets.map(({expr, refId}) => ({
        record: `panel:${id}:${refId}`,
        expr: expr.replaceAll('$instance', '.*'),
      })),
    )
    const folder = await mkdtemp(join(tmpdir(), 'trustadm-dashboard-'))
    try {
      const file = join(folder, 'rules.yaml')
      await writeFile(file, JSON.stringify({groups: [{name: 'dashboard', rules}]}))
      await run('promtool', ['check', 'rules', file])
    } finally {
      await rm(folder, {recursive: true, force: true})
    }
  })
})
