import WebServiceClient

// Preferences and header fields with a meaning in OData, for requests as a whole. Others: ``QueryBuilding/preferring(_:)``.
extension QueryBuilding {
    /// Requests annotations, by patterns such as `display.*`, `*` or `-Org.OData.Core.V1.Description` (Protocol 4.01, section 8.2.8.4).
    ///
    /// The annotations are in ``EntityMetadata/annotations`` and ``ODataPage/annotations``. Version 4.
    public func includingAnnotations(_ patterns: String...) -> Self {
        // Services of 4.01 accept the prefix that those of 4.0 require. A quote would end the value.
        let text = patterns.joined(separator: ",").filter { $0 != "\"" && $0 != "\\" }
        return preferring("odata.include-annotations=\"\(text)\"")
    }

    /// Requests that the service omits values from its response (Protocol 4.01, section 8.2.8.6). An omitted property then is absent, like
    /// one that wasn't selected: a type needs optional properties for it, and ``Presence`` can't tell null from absent. Version 4.01.
    public func omitting(_ values: OmittedValues) -> Self {
        preferring("omit-values=\(values.rawValue)")
    }

    /// Requests that all pages of the response have the state of one point in time (Protocol 4.01, section 8.2.6). A service that doesn't
    /// support this answers 412 (Precondition Failed). Version 4.
    public func isolated(_ isolation: ODataIsolation = .snapshot) -> Self {
        // Services of 4.01 accept the prefix that those of 4.0 require.
        header("OData-Isolation", isolation.rawValue)
    }
}

/// The values that a service may omit from its response.
public enum OmittedValues: String, Sendable, Hashable, CaseIterable {
    /// Nulls.
    case nulls
    /// The properties' default values.
    case defaults
}

/// The isolation of a request from changes that others make at the same time.
public enum ODataIsolation: String, Sendable, Hashable, CaseIterable {
    /// All data of the response have the state of one point in time.
    case snapshot
}
