import Dispatch
import Foundation

/// The queue that URLSession calls its delegate on: one call at a time, on a serial dispatch queue.
///
/// Such a queue gets a thread even where tasks keep every core busy. An operation queue left to itself may get none, and then idle times
/// would pass while pieces that have arrived wait.
///
/// `@unchecked Sendable`: as its superclass is; the one property never changes.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
    /// Held here, since the operation queue doesn't hold it.
    private let events = DispatchQueue(label: "WebServiceClient.URLSessionTransport.delegate")

    override init() {
        super.init()
        maxConcurrentOperationCount = 1
        underlyingQueue = events
    }
}
