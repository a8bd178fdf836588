import Foundation

/// Runs a closure on half of the usual stack: in debug builds, comparing expressions takes up to 8 KB of stack per level.
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
