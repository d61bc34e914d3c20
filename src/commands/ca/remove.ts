import * as Args from '@oclif/core/args'
import {TrustCommand} from '../../cli/command.ts'
import {dir, output, yes} from '../../cli/flags.ts'
import {dirOf} from '../../cli/folders.ts'
import {EXIT} from '../../errors.ts'

export default class CaRemove extends TrustCommand {
  static override summary = 'remove a CA that "ca add" has added'
  static override description =
    'Overwrites and removes its key, removes its certificate, and takes it out of config.yaml. What it has signed stays valid wherever its certificate is trusted. Refused while it rotates, or while a signer uses it.'
  static override examples = ['<%= config.bin %> <%= command.id %> vpn-ca']
  static override args = {
    name: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'a CA that was added, as "ca list" names it',
    }),
  }
  static override flags = {dir, yes, output}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(CaRemove)
    const {removeAuthority, requireRemovable} =
      await import('../../control-plane/ca-rotation/add-authority.ts')
    const {loadPlane} = await import('../../control-plane/config/stored.ts')
    const {createProgress} = await import('../../cli/progress.ts')
    const {confirm} = await import('../../cli/prompt.ts')
    const {removedAuthorityView} = await import('../../cli/views/authorities.ts')
    const {tell} = createProgress(flags)
    const {name} = args
    const folder = dirOf(flags.dir)
    await requireRemovable(await loadPlane(folder), name)
    if (!flags.yes && !(await confirm(`Destroy the CA "${name}"? This cannot be undone.`))) {
      tell('nothing was changed')
      return this.endWith(EXIT.failed)
    }
    const removed = await removeAuthority(folder, name, tell)
    await this.print({name, removed}, flags.output, removedAuthorityView)
  }
}
