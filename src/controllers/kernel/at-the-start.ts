import type {Source} from './controller.ts'

/** One pass at the start; every other is asked for by the one before. */
export const atTheStart: Source = {
  start({enqueue}) {
    enqueue('all')
    return {synced: Promise.resolve(), stopped: Promise.resolve()}
  },
}
