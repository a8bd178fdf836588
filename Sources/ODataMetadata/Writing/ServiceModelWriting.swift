public import Foundation

extension ServiceModel {
    /// Returns the model as a CSDL XML document, always with the same bytes for equal models.
    ///
    /// A model of V2 or V3 is written in the structure of 4.0, with its own types and the attributes of its extensions. Except for the
    /// version, reading the document results in an equal model. The schemas of ``includedSchemas`` belong to other documents and aren't
    /// written. Characters that XML 1.0 doesn't allow are written as U+FFFD.
    ///
    /// - Parameter version: The version of the document, at least 4.0; by default the model's own.
    public func xml(version: Version? = nil) -> Data {
        Data(XMLModelWriter(model: self, version: max(version ?? self.version, .v4)).document().utf8)
    }

    /// Returns the model as a CSDL JSON document (CSDL JSON 4.01), always with the same bytes for equal models.
    ///
    /// CSDL JSON has fewer kinds of constants: dates, paths, members of enumerations and similar values become strings. It has no
    /// `MaxLength` of `max`, and can't contain elements of other namespaces or attributes of the document's root. Attributes of other
    /// namespaces become annotations, operations with the name of a type are left out, and annotations without a value get the default
    /// value of their term, or else `true`. Reading the document results in the model with these changes.
    public func json() -> Data {
        Data(JSONModelWriter(model: jsonForm).document().utf8)
    }
}
