import assert from 'node:assert/strict'
import {openNodeHome} from '../../../src/node/agent/node-home.ts'
import {useFolder} from '../support.ts'

describe('a folder in which nobody has joined', () => {
  const folder = useFolder()
  const before = process.env.TRUSTADM_NODE_DIR
  afterEach(() => {
    if (before === undefined) delete process.env.TRUSTADM_NODE_DIR
    else process.env.TRUSTADM_NODE_DIR = before
  })

  it('is refused with the flag that names another, if it is the default', async () => {
    process.env.TRUSTADM_NODE_DIR = folder()
    await assert.rejects(openNodeHome(folder()), {
      code: 'NOT_JOINED',
      suggestions: ['join first with "trustadm join"', 'or name the folder of the node with --dir'],
    })
  })

  it('is refused with the command that joins there, if it was named', async () => {
    await assert.rejects(openNodeHome(folder()), {
      code: 'NOT_JOINED',
      suggestions: [
        'check the name: the folder of a node contains cluster-info.yaml or kubelet.conf',
        `or join first with "trustadm join … --dir ${folder()}"`,
      ],
    })
  })
})
