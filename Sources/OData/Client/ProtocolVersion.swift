import Foundation

/// A version as headers say it: `4.01`, `2.0;`, `4.0;NetFx`.
struct ProtocolVersion: Comparable {
    let major: Int
    let minor: Int

    static let latestKnown = ProtocolVersion(major: 4, minor: 1)

    private init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    init?(_ text: String) {
        let parts = text.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let major = Int(parts[0]), let minor = Int(parts[1]) else { return nil }
        self.major = major
        self.minor = minor
    }

    static func < (left: ProtocolVersion, right: ProtocolVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }
}
