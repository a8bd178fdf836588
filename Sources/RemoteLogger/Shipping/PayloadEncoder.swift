import Foundation
import WebServiceClient

/// Makes payloads of records.
struct PayloadEncoder: Sendable {
    let core: ShippingCore

    enum Outcome: Sendable {
        case made(Payload)
        /// The records can't be sent together; a single one can't be sent at all.
        case failed(DropReason, String)
    }

    func payload(of records: [LogRecord]) -> Outcome {
        let body: Data
        do {
            body = try core.format.encode(records)
        } catch {
            return .failed(.unencodable, "The format can't write it: \(ValueText.text(of: error))")
        }
        guard body.count <= core.format.maximumBodyBytes else {
            return .failed(.oversize, "Its \(body.count) bytes are more than the format's \(core.format.maximumBodyBytes).")
        }
        guard case .gzip(let level) = core.settings.compression else { return .made(Payload(body: body, records: records.count)) }
        switch core.settings.compressor(body, level) {
        case .compressed(let small): return .made(Payload(body: small, isCompressed: true, records: records.count))
        case .useless: return .made(Payload(body: body, records: records.count))
        case .missing: return .made(Payload(body: body, records: records.count, lacksCompressor: true))
        }
    }
}
