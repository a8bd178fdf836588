import Foundation
import ODataMetadata

/// The readers of metadata documents.
extension ParserTarget {
    /// Reads a document, and checks that what it says comes back from both formats.
    func runMetadata(_ data: Data) {
        guard let model = try? ServiceModel(data: data) else { return }
        for type in model.schemas.flatMap({ $0.entityTypes + $0.complexTypes }) {
            _ = model.properties(of: type).map { model.annotations(of: $0) }
            _ = model.operations(boundTo: type.qualifiedName)
            _ = model.alternateKeys(of: type)
        }
        let xml = model.xml()
        let again = try? ServiceModel(xml: xml)
        check(again?.schemas.count == model.schemas.count, "\(String(decoding: data, as: UTF8.self).debugDescription) doesn't come back")
        // A second writing changes nothing, whatever the first had to leave out.
        check(again.map { $0.xml() == (try? ServiceModel(xml: $0.xml()))?.xml() } ?? false, "XML isn't stable")
        let json = model.json()
        check((try? ServiceModel(json: json)) != nil, "\(String(decoding: json, as: UTF8.self)) can't be read")
    }
}
