import assert from 'node:assert/strict'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {deleteUploadedCopies} from '../../../src/control-plane/ca-rotation/remove.ts'
import {TrustError} from '../../../src/errors.ts'

describe('uploaded copies of the keys of CAs', () => {
  /** The Secrets that it deletes. */
  const deleted = async (error?: Error) => {
    const refs: unknown[] = []
    await deleteUploadedCopies({
      secrets: {
        delete: (ref: unknown) => {
          refs.push(ref)
          return error ? Promise.reject(error) : Promise.resolve()
        },
      },
    } as unknown as ApiClient)
    return refs
  }

  it('are deleted, whether there are any or not', async () => {
    const secret = {namespace: 'kube-system', name: 'kubeadm-certs'}
    assert.deepEqual(await deleted(), [secret])
    assert.deepEqual(await deleted(new TrustError('NOT_FOUND', 'none')), [secret])
    await assert.rejects(deleted(new TrustError('FORBIDDEN', 'no')), {code: 'FORBIDDEN'})
  })
})
