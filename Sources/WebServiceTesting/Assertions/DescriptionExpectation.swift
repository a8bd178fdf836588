public import Foundation
public import WebServiceClient

/// Expects that a client's table has no changes since its description was stored that affect callers or the wire.
///
///     @Test func tableIsCompatible() throws { try expectNoBreakingChanges(of: GitHub.self, since: file) }
///
/// Store the description once, and again after each intended change, in the folder of the tests and under version control:
///
///     try GitHub.describe(as: .json).write(to: file, atomically: true, encoding: .utf8)
///
/// - Parameters:
///   - client: The client's class.
///   - file: A description as JSON.
///   - allowed: Kinds of changes that aren't failures, in addition to those with the effect ``DescriptionChange/Effect/neutral``.
///   - refused: Kinds of neutral changes that are failures.
/// - Throws: ``TestingFailure`` with all changes, or if the file has no description of this format.
public func expectNoBreakingChanges(
    of client: WebServiceClient.Type, since file: URL, allowing allowed: Set<DescriptionChange.Kind> = [],
    refusing refused: Set<DescriptionChange.Kind> = []
) throws(TestingFailure) {
    let name = String(describing: client)
    let fix = "Store it with \(name).describe(as: .json)."
    let old: ClientDescription
    do {
        old = try DescriptionFile.read(file)
    } catch {
        throw TestingFailure("\(file.lastPathComponent) has no description of \(name): \(error). \(fix)")
    }
    let broken = client.describe().changes(since: old).filter { change in
        refused.contains(change.kind) || change.kind.effect != .neutral && !allowed.contains(change.kind)
    }
    guard !broken.isEmpty else { return }
    var lines = ["The table of \(name) has \(broken.count == 1 ? "a change" : "\(broken.count) changes") since \(file.lastPathComponent):"]
    for (effect, title) in [(DescriptionChange.Effect.callers, "callers"), (.wire, "the wire"), (.neutral, "neither")] {
        let some = broken.filter { $0.kind.effect == effect }
        if !some.isEmpty { lines += ["that affect \(title):"] + some.map { "  - \($0)" } }
    }
    throw TestingFailure(lines.joined(separator: "\n") + "\nIf they are intended, allow their kinds, or store the description again.")
}

/// Reads stored descriptions.
private enum DescriptionFile {
    /// The reason why a file has no description.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct Version: Decodable {
        let version: Int
    }

    static func read(_ file: URL) throws -> ClientDescription {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw Failure(description: "it can't be read")
        }
        let reader = JSONReader()
        do {
            let version = try reader.decode(Version.self, from: data).version
            guard version == ClientDescription.currentVersion else {
                throw Failure(
                    description: "it has the format version \(version), and this library compares \(ClientDescription.currentVersion)")
            }
            return try reader.decode(ClientDescription.self, from: data)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(description: "it can't be decoded (\(error))")
        }
    }
}
