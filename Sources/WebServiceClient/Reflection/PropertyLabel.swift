/// The name of a stored property as a mirror gives it, read for what it means.
struct PropertyLabel {
    enum Kind {
        /// An ordinary property.
        case plain
        /// A name with an underscore in front: a property's wrapper, or just so named.
        case underscored
        /// What a `lazy` property is kept in.
        case lazy
        /// A tuple's element without a label, or no label at all.
        case unlabelled
    }

    let name: String
    let kind: Kind

    init(_ label: String?) {
        let lazyPrefix = "$__lazy_storage_$_"
        if let label, label.hasPrefix(lazyPrefix) {
            (name, kind) = (String(label.dropFirst(lazyPrefix.count)), .lazy)
        } else if let label, label.utf8.first == UInt8(ascii: "_"), label.utf8.count > 1 {
            (name, kind) = (label, .underscored)
        } else if let label, label.utf8.first != UInt8(ascii: ".") {
            (name, kind) = (label, .plain)
        } else {
            (name, kind) = (label ?? "", .unlabelled)
        }
    }
}

extension Mirror {
    /// The stored properties, those of superclasses first.
    var properties: [Child] {
        var chain = [self]
        while let parent = chain.last?.superclassMirror { chain.append(parent) }
        return chain.reversed().flatMap { Array($0.children) }
    }

    /// What a property wrapper keeps its value in, by the names that wrappers use.
    var wrappedValue: Any? {
        guard displayStyle == .struct || displayStyle == .class else { return nil }
        let found = properties.first { child in
            switch child.label {
            case "wrappedValue", "_wrappedValue", "value", "_value", "storage", "_storage": true
            default: false
            }
        }
        return found?.value
    }
}
