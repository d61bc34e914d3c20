import assert from 'node:assert/strict'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {startForeignCluster, type ForeignCluster} from '../helpers/foreign-cluster.ts'
import {trustadm} from '../helpers/program.ts'

/** As a command line; FOLDER is one for files. */
const REFUSED = [
  'init',
  'init phase rbac',
  'init phase bootstrap-token',
  'token create',
  'token list',
  'token show abcdef',
  'token delete abcdef',
  'bootstrap-credential create --kind token --out FOLDER/bootstrap.conf',
  'bootstrap-credential list',
  'bootstrap-credential show node-bootstrapper',
  'bootstrap-credential revoke node-bootstrapper --yes',
  'certificate list',
  'certificate show ada',
  'certificate approve ada --yes',
  'certificate deny ada',
  'certificate request --user ada --out FOLDER ada',
  'certificate download ada',
  'certificate simulate --node another',
  'certificate allow-rejoin stranger --yes --requester system:bootstrap:abcdef',
  'node list',
  'node history worker',
]

describe('commands of a user without rights in a cluster that knows nothing of trustadm', function () {
  this.timeout(60_000)
  let cluster: ForeignCluster
  let folder = ''
  before(async () => {
    cluster = await startForeignCluster()
    folder = await mkdtemp(join(tmpdir(), 'trustadm-refused-'))
  })
  after(async () => {
    await cluster.stop()
    await rm(folder, {recursive: true, force: true})
  })

  for (const line of REFUSED) {
    it(`says what is missing for "${line}"`, async () => {
      const words = line.replaceAll('FOLDER', folder).split(' ')
      const {code, stderr} = await trustadm(...words, '--kubeconfig', cluster.nobody)
      assert.equal(code, 4, stderr)
      assert.match(stderr, /"nobody"/)
      assert.match(stderr, /Try this/)
      assert.equal(/\n\s+at /.test(stderr), false, stderr)
    })
  }
})
