import type {ApiClient} from '../../client/api-client.ts'
import {approverOpinions} from '../../controllers/approval/opinions.ts'
import type {Clock} from '../../runtime.ts'
import type {AskApprovers} from './show.ts'

/** Asks the cluster for what the approvers have to know, with the caller's own rights, and applies their rules. */
export const approversOf =
  (client: ApiClient, clock: Clock): AskApprovers =>
  (csr) =>
    approverOpinions(client, csr, {clock})
