/** Whether a folder belongs to a node and not to a control plane, for commands that work on either. */
export async function isFolderOfNode(dir: string): Promise<boolean> {
  const {findPlane} = await import('../../control-plane/config/stored.ts')
  if (await findPlane(dir)) return false
  const {findNodeFolder} = await import('../../node/node-folder.ts')
  return (await findNodeFolder(dir)) !== undefined
}
