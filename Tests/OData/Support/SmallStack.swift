import Foundation

/// Runs something on half of the usual stack: unoptimised, comparing expressions takes up to 8 KB of it for each level.
func onSmallStack(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        let thread = Thread {
            body()
            continuation.resume()
        }
        thread.stackSize = 4 << 20
        thread.start()
    }
}
