import Foundation
@_spi(Fuzzing) import WebServiceTesting

extension ParserTarget {
    /// Checks that the recordings of an HTTP Archive come back after they are written, and that each fits its own request.
    func checkArchive(_ data: Data) {
        guard let exchanges = try? Cassette.exchanges(in: data, of: "fuzz.har") else { return }
        let archive = Cassette.archive(of: exchanges)
        do {
            let again = try Cassette.exchanges(in: archive, of: "again.har")
            check(again.count == exchanges.count, "recordings are lost")
            // Times and unknown parts become those that the writer has; from then on nothing changes.
            check(Cassette.archive(of: again) == archive, "an archive changes when it is written again")
            for (first, second) in zip(exchanges, again) {
                check(first.url == second.url && first.status == second.status && first.key == second.key, "a recording changes")
                check(first.responseBody == second.responseBody && first.requestBody == second.requestBody, "a body changes")
                check(first.pieces == second.pieces && first.isCut == second.isCut && first.failure == second.failure, "an end changes")
            }
            _ = Cassette(exchanges, ignoring: ["a"]).uncalledKeys
        } catch {
            check(false, "an archive that was written can't be read: \(error)")
        }
    }
}
