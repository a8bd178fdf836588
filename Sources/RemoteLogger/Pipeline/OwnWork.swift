import WebServiceClient

/// Tells the logger's own work from the program's, so that it never logs itself.
///
/// There are two marks, since one alone is lost when work changes threads: the task that ships carries ``isShipping``, which its
/// child tasks inherit; and the requests that it sends carry ``identity``, which ``CallLogger`` leaves alone on any thread.
enum OwnWork {
    /// Whether this task ships records, or a thread formats and prints them.
    @TaskLocal static var isShipping = false

    /// The call that the logger's own requests belong to.
    static let identity = CallIdentity(client: "RemoteLogger", key: "ship", route: "")
}

extension Diagnostics {
    /// Says something of the logger's own work, without a secret.
    func reportOwnWork(_ level: Event.Level, _ message: String) {
        OwnWork.$isShipping.withValue(true) {
            report(Event(level, message, call: OwnWork.identity))
        }
    }
}
