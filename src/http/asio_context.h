#pragma once
// http/asio_context.h - the Asio context of an AsioLoop, and the socket types of this folder.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "http/asio_loop.h"

namespace belay::http {

struct AsioLoop::Context {
  boost::asio::io_context io{1};  // runs on one thread; any thread can post
};

// A concrete executor type avoids an allocation and an indirection per handler.
using Socket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;
using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp,
                                                    boost::asio::io_context::executor_type>;

}  // namespace belay::http
