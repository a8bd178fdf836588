import WebServiceClient

/// Tells the diagnostics what happens to the shipping: each trouble when it begins and when it has ended, not every attempt.
struct ShippingReporter {
    private let core: ShippingCore
    private var isFailing = false
    private var isPaused = false
    private var saidThatCompressionLacks = false
    private var saidRemark: String?
    private var saidRejections: Set<Int?> = []
    private var lossesReported: UInt64 = 0
    private var nextLossReport: UInt64 = 0

    /// The time between two reports of losses.
    private static let minute: UInt64 = 60 * 1_000_000_000

    init(core: ShippingCore) {
        self.core = core
    }

    /// What a receiver says may repeat a secret that it was sent.
    private func quoted(_ reason: String) -> String { LogRedaction.standard.masked(reason) }

    private var receiver: String { core.sender.receiver }

    private static func text(of status: Int?) -> String {
        status.map(String.init) ?? "unknown"
    }

    mutating func noteFailure(_ message: String, next: Duration) {
        guard !isFailing else { return }
        isFailing = true
        core.report(
            .warning, "\(receiver) takes no log records at present (\(quoted(message))); they are kept, the next attempt is in \(next).")
    }

    mutating func notePause(status: Int?, reason: String, next: Duration) {
        guard !isPaused else { return }
        isPaused = true
        let said = reason.isEmpty ? "" : ", \"\(quoted(reason))\""
        core.report(
            .warning,
            "\(receiver) refuses the log shipper (status \(Self.text(of: status))\(said)): check the URL and the credentials. The records are kept, "
                + "the next attempt is in \(next).")
    }

    mutating func noteAnswer() {
        if isFailing || isPaused { core.report(.notice, "\(receiver) takes log records again.") }
        isFailing = false
        isPaused = false
    }

    mutating func noteCompression(of payload: Payload) {
        guard payload.lacksCompressor, !saidThatCompressionLacks else { return }
        saidThatCompressionLacks = true
        core.report(.notice, "There is no zlib (libz.so.1) on this system: log records are sent without compression.")
    }

    /// Tells the first refusal of each status; ``reportLosses()`` goes on counting them.
    mutating func noteRejection(of count: Int, status: Int?, reason: String) {
        guard saidRejections.insert(status).inserted else { return }
        let said = reason.isEmpty ? "" : ": \"\(quoted(reason))\""
        core.report(.warning, "\(receiver) has refused \(count) log records for good (status \(Self.text(of: status)))\(said)")
    }

    mutating func noteDrop(_ reason: DropReason, _ message: String) {
        core.report(.warning, "A log record was dropped (\(reason)). \(quoted(message))")
    }

    mutating func noteRemark(_ remark: String) {
        guard remark != saidRemark else { return }
        saidRemark = remark
        core.report(.notice, "\(receiver) says: \"\(quoted(remark))\"")
    }

    /// Tells how many records were lost in all, at once when it begins and then once a minute.
    mutating func reportLosses() {
        let now = core.settings.clock.uptime
        guard now >= nextLossReport else { return }
        let lost = core.losses
        guard lost.total > lossesReported else { return }
        lossesReported = lost.total
        nextLossReport = now &+ Self.minute
        core.report(.warning, "\(lost.total) log records were dropped so far: \(lost.text).")
        core.writeLossReport()
    }
}
