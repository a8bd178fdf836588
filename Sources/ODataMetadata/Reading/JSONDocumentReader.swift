import Foundation

enum JSONDocumentReader {
    static func read(
        _ data: Data, limits: ServiceModel.Limits, state: ReadingState
    ) throws -> (XMLDocumentReader.Outcome, containerName: String?) {
        throw ServiceModelError(kind: .malformed, message: "not yet")
    }
}
