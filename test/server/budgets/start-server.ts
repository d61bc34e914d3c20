import {openLmdbStorage} from '../../../src/storage/lmdb.ts'
import {startTestServer} from '../../helpers/test-server.ts'
import {Api} from '../support.ts'

/** Run in a process of its own with a small heap: starts on the store of a folder, and says what it serves. */
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const storage = await openLmdbStorage(process.argv[2] ?? '')
const server = await startTestServer({storage})
const api = new Api(server.handler)
const {body} = await api.get(`${CSRS}?limit=500`, {
  accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
})
const [first] = body.items
const deleted = await api.delete(`${CSRS}/${first?.metadata.name ?? ''}`)
const remaining = body.metadata.remainingItemCount ?? 0
const answer = {listed: body.items.length + remaining, deleted: deleted.status}
process.stdout.write(JSON.stringify({...answer, errors: server.errors}))
await server.stop()
